#pragma once

#include <span>

#include "api/schedule/tuning.h"
#include "bench/library_session.h"

namespace parley::bench::tune {

// What measuring one case has shown. Times are medians of a call, in microseconds.
struct Finding {
  schedule::TuningCase where;
  schedule::Algorithm predicted = schedule::Algorithm::linear;  // by the price model
  schedule::Algorithm chosen = schedule::Algorithm::linear;     // what the table shall say
  double predicted_us = 0;
  double chosen_us = 0;
  double probe_ns = 0;  // from core to core meanwhile, one way
};

// Another one than the price model's is clearly faster if the upper end of the 95 % interval of its time over
// the model's, round by round, is below this.
inline constexpr double clearly_faster = 0.95;

// The fastest system of those that are clearly faster than the first one, else the first one; as an index.
std::size_t winner_of(const Contest& contest);

// Of a contest of algorithms, the price model's first.
Finding finding_of(const schedule::TuningCase& where, const Contest& contest);

// For each operation and number of ranks a row for each run of sizes with one choice. Where the choice
// changes between two sizes, the row ends in their geometric middle; the last one ends with the last size,
// and that of a barrier never.
schedule::Tuning tuning_of(std::span<const Finding> findings);

}  // namespace parley::bench::tune
