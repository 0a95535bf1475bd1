#pragma once

#include "bench/collective_buffers.h"
#include "bench/gate.h"
#include "bench/phase.h"
#include "bench/plan.h"

namespace parley::bench {

// An exchange of the collectives: one call, on all ranks. A Collective makes it: call(root), on the buffers
// it was made for. The root moves on with each call, so that a rank that has only sent waits in the next call
// or the one after: calls that follow each other take as long as their results need, and nobody runs ahead.
template <typename Collective>
class CollectiveExchange {
 public:
  // Borrows both for its lifetime. `read`: what a call brings is read then, as programs do.
  CollectiveExchange(Collective& collective, CollectiveBuffers& buffers, bool read = false)
      : collective_(collective), buffers_(buffers), read_(read) {}

  void operator()() {
    collective_.call(root_);
    if (buffers_.called(root_) && read_) buffers_.read_in();
    root_ = root_ + 1 == buffers_.ranks() ? 0 : root_ + 1;
  }

 private:
  Collective& collective_;
  CollectiveBuffers& buffers_;
  bool read_;
  int root_ = 0;
};

// Measures calls that follow each other, on all ranks at once. The result of a rank that does not lead is
// empty.
template <typename Exchange>
PhaseResult run_collective_phase(Exchange&& exchange, const Plan& plan, bool leads) {
  if (leads) return time_exchanges(exchange, plan);
  repeat(exchange, plan.exchanges());
  return {};
}

// The same with all buffers written anew before each call. A call is then measured from when all ranks have
// written, for none begins before that, to when the last one is done, less what the gate alone takes at the
// end.
template <typename Exchange>
PhaseResult run_prepared_collective_phase(Exchange&& exchange, CollectiveBuffers& buffers, const Plan& plan,
                                          bool leads, Gate& gate) {
  const double overhead_us = gate.empty_us();
  const auto prepare = [&] { gate.pass_together([&] { buffers.rewrite_out(); }); };
  const auto call = [&] { exchange(), gate.finish(); };
  if (leads) return time_prepared_exchanges(prepare, call, plan, overhead_us);
  repeat([&] { prepare(), call(); }, plan.exchanges());
  return {};
}

}  // namespace parley::bench
