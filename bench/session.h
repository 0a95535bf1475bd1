#pragma once

#include <parley/process_group.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "bench/options.h"
#include "bench/pair.h"
#include "bench/phase.h"
#include "bench/probe.h"
#include "bench/row.h"
#include "bench/series.h"

namespace parley::bench {

// The rows of one size.
struct Figures {
  Row parley;
  Row raw;
  // Of the raw turns' time, how much the worst-off rank was running: the median over its rounds. Less than 1
  // means that something else used its core. Nothing when the raw loops give the core away themselves.
  std::optional<double> core_share;
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
  // What one pair gathers over the rounds of a size.
  struct Gathered {
    Series parley;
    Series raw;
    std::vector<double> probe_ns;
    std::vector<double> core_share;  // of this rank, a figure a round
  };
  Gathered run_rounds(std::size_t bytes);
  // At rank 0: the series of all pairs in one; elsewhere: what it was given.
  Series collect(const Series& mine);
  // At rank 0: the smallest figure of all ranks; elsewhere: its own.
  double collect_smallest(double mine);

  ProcessGroup& group_;
  const Options& options_;
  Idle idle_;
  Pair pair_;
  Probe probe_;
};

}  // namespace parley::bench
