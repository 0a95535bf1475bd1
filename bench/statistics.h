#pragma once

#include <vector>

namespace parley::bench {

// All REQUIRE at least one sample. Units are the samples' own.

// The middle sample, or the mean of the two in the middle.
double median(std::vector<double> samples);

// Nearest rank: the smallest sample that at least `percent` of all samples do not exceed. REQUIRES: 0 <
// percent <= 100.
double percentile(std::vector<double> samples, double percent);

double smallest(const std::vector<double>& samples);
double largest(const std::vector<double>& samples);

}  // namespace parley::bench
