#pragma once

#include <parley/process_group.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "bench/gate.h"
#include "bench/options.h"
#include "bench/pair.h"
#include "bench/parley_world.h"
#include "bench/probe.h"
#include "bench/row.h"
#include "bench/series.h"
#include "bench/turns.h"
#include "bench/waiting.h"

namespace parley::bench {

// The rows of one size, from the same rounds. With more ranks than cores the raw loop runs twice, yielding at
// once and after a look, and `raw` is the faster one: which it is depends on where the scheduler has put the
// ranks.
struct Figures {
  Row parley;
  Row raw;
};

// Measures size after size. In each round the probe, the library and the raw socket take turns between the
// same processes, so that all of them meet the machine in the same mode; which of the two goes first
// alternates.
class Session {
 public:
  // Every rank of the group makes one, with the same options. Borrows the group.
  Session(ProcessGroup& group, const Options& options, Idle idle);

  // Called by all ranks with the same size; the figures of all pairs arrive at rank 0, nothing at the others.
  // Throws what the library or the raw link throws, and std::runtime_error when received data is wrong.
  std::optional<Figures> measure(std::size_t bytes);

 private:
  // What one rank gathers over the rounds of a size.
  struct Gathered {
    Series parley;
    Series raw;
    Series raw_look;  // with more ranks than cores
    std::vector<double> probe_ns;
    std::vector<double> memcpy_gb_per_s;
  };
  Gathered run_rounds(std::size_t bytes);
  Figures make_figures(std::size_t bytes, std::span<const Series> series, const Gathered& gathered) const;

  template <typename System>
  PhaseResult run(System& system, const Plan& plan, Buffers& buffers);

  ProcessGroup& group_;
  const Options& options_;
  Idle idle_;
  Idle raw_idle_;
  ParleyWorld world_;
  Pair pair_;
  Waiting probe_waiting_;
  Waiting waiting_;
  Probe probe_;
  Gate gate_;
  Turns turns_;
};

}  // namespace parley::bench
