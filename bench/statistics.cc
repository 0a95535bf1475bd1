#include "bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace parley::bench {

double median(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return (*std::max_element(samples.begin(), middle) + *middle) / 2;
}

double percentile(std::vector<double> samples, double percent) {
  const auto count = static_cast<double>(samples.size());
  // Rounding noise must not lift an exact rank (99 % of 100 samples is the 99th) to the next one.
  const auto rank = static_cast<std::size_t>(std::ceil(percent * count / 100 - 1e-9));
  const auto index = std::clamp<std::size_t>(rank, 1, samples.size()) - 1;
  const auto place = samples.begin() + static_cast<std::ptrdiff_t>(index);
  std::nth_element(samples.begin(), place, samples.end());
  return *place;
}

double smallest(const std::vector<double>& samples) {
  return *std::min_element(samples.begin(), samples.end());
}

double largest(const std::vector<double>& samples) {
  return *std::max_element(samples.begin(), samples.end());
}

}  // namespace parley::bench
