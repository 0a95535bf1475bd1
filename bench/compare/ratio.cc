#include "bench/compare/ratio.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "bench/statistics.h"

namespace parley::bench::compare {
namespace {

constexpr std::size_t least_ratios = 3;

// Draws as many values as there are, with replacement, and gives their median.
class Drawing {
 public:
  explicit Drawing(std::span<const double> values) : values_(values), drawn_(values.size()) {}

  double median_of_one(std::mt19937_64& random) {
    // The standard's distributions differ between libraries; this one has the same answer everywhere. That
    // some values are likelier by 2^-60 does not matter.
    for (double& one : drawn_) one = values_[random() % values_.size()];
    return median(drawn_);
  }

 private:
  std::span<const double> values_;
  std::vector<double> drawn_;
};

Ratio::Bounds middle_95_percent(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t tail = values.size() / 40;
  return {values[tail], values[values.size() - 1 - tail]};
}

double median_of(std::span<const double> values) {
  return median(std::vector<double>(values.begin(), values.end()));
}

template <typename DrawOne>
Ratio::Bounds bootstrap(DrawOne&& draw_one) {
  constexpr std::uint64_t seed = 20'221'018;
  std::mt19937_64 random(seed);
  std::vector<double> drawn(static_cast<std::size_t>(resamples));
  for (double& one : drawn) one = draw_one(random);
  return middle_95_percent(std::move(drawn));
}

}  // namespace

Ratio median_ratio(std::span<const double> ratios) {
  Ratio result{median_of(ratios), std::nullopt, static_cast<int>(ratios.size())};
  if (ratios.size() < least_ratios) return result;
  Drawing drawing(ratios);
  result.bounds = bootstrap([&](std::mt19937_64& random) { return drawing.median_of_one(random); });
  return result;
}

Ratio ratio_of_medians(std::span<const double> above, std::span<const double> below) {
  const std::size_t count = std::min(above.size(), below.size());
  Ratio result{median_of(above) / median_of(below), std::nullopt, static_cast<int>(count)};
  if (count < least_ratios) return result;
  Drawing upper(above);
  Drawing lower(below);
  result.bounds = bootstrap([&](std::mt19937_64& random) {
    const double numerator = upper.median_of_one(random);
    return numerator / lower.median_of_one(random);
  });
  return result;
}

}  // namespace parley::bench::compare
