#pragma once

#include <functional>

#include "bench/buffers.h"
#include "bench/op.h"
#include "bench/phase.h"
#include "bench/raw_link.h"
#include "bench/series.h"
#include "bench/world.h"

namespace parley::bench {

// What a turn brings to this rank.
struct Arrivals {
  std::function<void()> spoil;  // before the turn: makes sure that nothing of it is there yet
  std::function<void()> check;  // after it: counts what is wrong, or throws std::runtime_error
};

// Of one end of a pair. Borrows the buffers.
Arrivals arrivals_in(Buffers& buffers, Op op, bool leads);

// After a turn: lets the system deliver messages that differ, and compares each. Throws what the system
// throws, and std::runtime_error when one is wrong.
template <typename System>
void prove_messages(System& system, Buffers& buffers, Op op, bool leads) {
  exchange_distinct(system, op, leads, buffers.distinct());
  if (receives_messages(op, leads)) buffers.check_distinct();
}

// How systems take turns on the ranks of a world, and how their figures come together. Every rank has one and
// calls it alike. Borrows the world. Throws what the world and the phases throw, and std::runtime_error when
// received data is wrong.
class Turns {
 public:
  // `leads`: this rank holds a watch.
  Turns(World& world, bool leads, Idle idle) : world_(world), leads_(leads), idle_(idle) {}

  // One system's turn in a round: after all ranks have come to it runs the phase, and checks what came; keeps
  // the figures. `prove`, if there is one, is called after that: prove_messages().
  void take(const Arrivals& arrivals, Series& series, const std::function<PhaseResult()>& phase,
            const std::function<void()>& prove = {});

  // At rank 0: the series of all ranks in one; elsewhere: what it was given.
  Series collect(Op op, const Series& mine);

 private:
  World& world_;
  bool leads_;
  Idle idle_;
};

}  // namespace parley::bench
