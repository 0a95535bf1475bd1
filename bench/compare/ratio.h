#pragma once

#include <optional>
#include <span>

namespace parley::bench::compare {

// A ratio of times, and the interval that holds it in 95 of 100 repetitions. Below 1 the first one is faster.
struct Ratio {
  struct Bounds {
    double lo = 0;
    double hi = 0;
  };
  double value = 0;
  std::optional<Bounds> bounds;  // nothing: fewer than three values, of which no interval can be told
  int count = 0;                 // values that it comes from
};

// Percentile bootstrap of the median: of `resamples` drawings with replacement, the medians' 2.5th and 97.5th
// percentile. The drawings are the same in every run. Up to five values that is the least and the largest of
// them, whose true coverage is 75, 88 and 94 % for three, four and five values.
inline constexpr int resamples = 2000;

// Of paired ratios, one for each round in which both systems ran: a pair met the machine in one state, so
// what slows both does not show. REQUIRES: one or more.
Ratio median_ratio(std::span<const double> ratios);

// Of two runs that nothing pairs: the ratio of their medians, each drawn from by itself. REQUIRES: one value
// or more of each; bounds need three of each.
Ratio ratio_of_medians(std::span<const double> above, std::span<const double> below);

}  // namespace parley::bench::compare
