#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace parley::bench {

// What is measured.
enum class Op {
  latency,        // ping-pong, one way
  bandwidth,      // windows of messages one way, each window answered by one small message
  bidirectional,  // both ends send a window at the same time
  message_rate,   // as bandwidth, with small messages, counted instead of weighed
  broadcast,
  reduce,
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  gather,
  scatter,
  barrier,
};

// How an operation moves its messages.
enum class Traffic {
  ping_pong,   // between two ranks, one message there and one back
  windows,     // between two ranks, many one way and a small one back
  both_ways,   // between two ranks, many in each direction at once
  collective,  // all ranks make one call together
};

struct Operation {
  Op op;
  std::string_view name;  // as on the command line and in the JSON rows
  Traffic traffic;
};

// All of them, in the order of `Op`.
inline constexpr std::array<Operation, 13> operations = {{
    {Op::latency, "latency", Traffic::ping_pong},
    {Op::bandwidth, "bandwidth", Traffic::windows},
    {Op::bidirectional, "bidirectional", Traffic::both_ways},
    {Op::message_rate, "message-rate", Traffic::windows},
    {Op::broadcast, "broadcast", Traffic::collective},
    {Op::reduce, "reduce", Traffic::collective},
    {Op::all_reduce, "all_reduce", Traffic::collective},
    {Op::all_gather, "all_gather", Traffic::collective},
    {Op::reduce_scatter, "reduce_scatter", Traffic::collective},
    {Op::all_to_all, "all_to_all", Traffic::collective},
    {Op::gather, "gather", Traffic::collective},
    {Op::scatter, "scatter", Traffic::collective},
    {Op::barrier, "barrier", Traffic::collective},
}};

constexpr const Operation& operation(Op op) noexcept {
  return operations[static_cast<std::size_t>(op)];
}

constexpr std::string_view to_string(Op op) noexcept {
  return operation(op).name;
}

constexpr bool is_collective(Op op) noexcept {
  return operation(op).traffic == Traffic::collective;
}

// Whether one rank gives or gets what the others get or give.
constexpr bool has_root(Op op) noexcept {
  return op == Op::broadcast || op == Op::reduce || op == Op::gather || op == Op::scatter;
}

// Whether messages travel in windows, so that the figure is a rate.
constexpr bool is_windowed(Op op) noexcept {
  return operation(op).traffic == Traffic::windows || operation(op).traffic == Traffic::both_ways;
}

// Between two ranks: whether this end sends, or receives, messages of the measured size, and not answers
// only.
constexpr bool sends_messages(Op op, bool leads) noexcept {
  return leads || operation(op).traffic != Traffic::windows;
}
constexpr bool receives_messages(Op op, bool leads) noexcept {
  return !leads || operation(op).traffic != Traffic::windows;
}

// Raw loops, the limits, move messages between two ranks.
constexpr bool has_limit(Op op) noexcept {
  return !is_collective(op);
}

}  // namespace parley::bench
