#pragma once

#include <cstddef>

#include "bench/op.h"

namespace parley::bench {

// How one system is measured in one round. An exchange is a round trip (latency), a window with its answer, a
// window each way (bidirectional) or a call of a collective. A plan depends on its arguments alone, so that
// all ranks make the same one without talking.
struct Plan {
  int warmup = 0;                    // exchanges before the clock starts
  int batches = 0;                   // timed stretches; the round's figure is the median of their means
  int batch_length = 0;              // exchanges in each: one clock reading for all of them
  int tail_samples = 0;              // further exchanges with a clock reading each, for percentiles only
  bool batches_are_samples = false;  // batches of one exchange, which serve for percentiles themselves
  int window = 1;                    // messages of one direction in an exchange
  int divisor = 1;                   // what an exchange's time is divided by to give that of one message

  [[nodiscard]] constexpr int exchanges() const noexcept {
    return warmup + batches * batch_length + tail_samples;
  }
};

// Roughly what messages cost; sets only how long a round lasts.
struct Cost {
  double hop_us;      // one way, apart from the bytes
  double message_us;  // each further one of a window
  double bytes_per_us;
};
inline constexpr Cost loopback_tcp{6, 1, 4'000};
inline constexpr Cost shared_cache{0.2, 0.05, 8'000};
// With more ranks than cores a hop takes a turn on the core.
inline constexpr Cost shared_core{3, 0.05, 4'000};

// A plan whose timed exchanges last about `round_us`; at least one batch of them, however long that takes.
// REQUIRES: not a collective.
Plan make_plan(Op op, std::size_t bytes, double round_us, const Cost& cost = loopback_tcp) noexcept;

// The same where it is known how long an exchange takes.
Plan make_plan(Op op, std::size_t bytes, double round_us, double exchange_us) noexcept;

// The same with batches in which each of `ranks` is the root equally often: with few, what a call takes
// depends on whose turn it is. REQUIRES: a collective's plan.
Plan in_whole_rotations(Plan plan, int ranks) noexcept;

// Messages of one direction in an exchange.
int window_for(Op op, std::size_t bytes) noexcept;

}  // namespace parley::bench
