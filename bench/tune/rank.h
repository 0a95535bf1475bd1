#pragma once

#include <span>

#include "bench/stopwatch.h"
#include "bench/tune/finding.h"
#include "bench/tune/tune_options.h"

namespace parley::bench::tune {

// How far all of it has come, for a line on stderr after each case.
struct Course {
  std::size_t done = 0;  // cases, before these ranks
  std::size_t all = 0;
  Stopwatch watch;
};

// How many cases a number of ranks has.
std::size_t count_cases(const TuneOptions& options);

// One rank's whole life: joins the world that the environment describes, measures case after case, leaves.
// Rank 0 writes what was found. REQUIRES: count_cases() findings. Throws whatever went wrong.
void rank_main(const TuneOptions& options, Course course, std::span<Finding> findings);

}  // namespace parley::bench::tune
