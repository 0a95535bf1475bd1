#pragma once

#include <span>
#include <vector>

#include "bench/op.h"
#include "bench/phase.h"

namespace parley::bench {

// What the rounds of one size gave for one system. Microseconds per message, one way.
struct Series {
  std::vector<double> round_us;  // one figure a round, in order
  std::vector<double> tail_us;   // single exchanges of all rounds

  void append(const PhaseResult& result);
};

// Several pairs at once, as one series: latencies are averaged round by round, rates of windowed traffic add
// up; single exchanges are pooled. REQUIRES: at least one pair, the same number of rounds in each.
Series combine(Op op, std::span<const Series> pairs);

}  // namespace parley::bench
