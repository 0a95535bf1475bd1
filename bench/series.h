#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bench/op.h"
#include "bench/phase.h"

namespace parley::bench {

// What the rounds of one size gave for one system. Microseconds per message, one way.
struct Series {
  std::vector<double> round_us;    // one figure a round, in order; empty for a rank that does not lead
  std::vector<double> tail_us;     // single exchanges, round after round, equally many of each
  std::vector<double> core_share;  // of CoreWatch, one figure a round; fewer where that is not always known

  void append(const PhaseResult& result);
};

// All ranks of a run as one series: of the pairs, latencies are averaged round by round, rates of windowed
// traffic add up, and single exchanges are pooled; of the core shares, the smallest of each round stays,
// if all ranks know all of theirs, else none.
// REQUIRES: the first one has rounds, and the same number of them as every other that has any.
Series combine(Op op, std::span<const Series> ranks);

// A rank with less of its core than this was disturbed: a loop that has its core to itself never waits for
// it, and the rest allows for interrupts.
inline constexpr double undisturbed_share = 0.95;

// The rounds to make figures from, as indices: those in which no rank was disturbed in the turn of any
// system, if they are a third or more; else all. REQUIRES: one system or more, with the same rounds.
std::vector<std::size_t> rounds_that_count(std::span<const Series> systems);

// The series without the other rounds.
Series only(const Series& series, std::span<const std::size_t> rounds);

}  // namespace parley::bench
