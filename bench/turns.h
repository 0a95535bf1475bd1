#pragma once

#include <parley/process_group.h>

#include <functional>

#include "bench/buffers.h"
#include "bench/op.h"
#include "bench/pair.h"
#include "bench/phase.h"
#include "bench/series.h"

namespace parley::bench {

// How systems take turns on the ranks of a group, and how their figures come together. Every rank of the
// group has one and calls it alike. Borrows group and pair. Throws what the group and the phases throw, and
// std::runtime_error when received data is wrong.
class Turns {
 public:
  Turns(ProcessGroup& group, const Pair& pair, Idle idle) : group_(group), pair_(pair), idle_(idle) {}

  // One system's turn in a round: after all ranks have come to it runs the phase, which leaves a message in
  // `buffers` wherever this end receives messages of the measured size; checks that; keeps the figures.
  void take(Op op, Buffers& buffers, Series& series, const std::function<PhaseResult()>& phase);

  // At rank 0: the series of all ranks in one; elsewhere: what it was given.
  Series collect(Op op, const Series& mine);

 private:
  ProcessGroup& group_;
  const Pair& pair_;
  Idle idle_;
};

}  // namespace parley::bench
