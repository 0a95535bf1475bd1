#pragma once

namespace parley::bench {

// What is measured.
enum class Op {
  latency,       // ping-pong, one way
  bandwidth,     // windows of messages one way, each window answered by one small message
  message_rate,  // the same with small messages, counted instead of weighed
};

// As on the command line and in the JSON rows: "message-rate".
constexpr const char* to_string(Op op) noexcept {
  switch (op) {
    case Op::latency: return "latency";
    case Op::bandwidth: return "bandwidth";
    case Op::message_rate: return "message-rate";
  }
  return "";
}

// Whether messages travel in windows (else as a ping-pong).
constexpr bool is_windowed(Op op) noexcept {
  return op != Op::latency;
}

}  // namespace parley::bench
