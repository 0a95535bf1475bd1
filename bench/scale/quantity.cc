#include "bench/scale/quantity.h"

#include <algorithm>

namespace parley::bench::scale {
namespace {

constexpr double us_per_second = 1e6;

}  // namespace

const QuantityInfo& info(Quantity quantity) noexcept {
  return *std::find_if(quantities.begin(), quantities.end(),
                       [quantity](const QuantityInfo& one) { return one.quantity == quantity; });
}

double cost_of(Quantity quantity, double value) noexcept {
  return info(quantity).is_rate ? us_per_second / value : value;
}

double value_of(Quantity quantity, double cost) noexcept {
  return info(quantity).is_rate ? us_per_second / cost : cost;
}

std::vector<Point> points_of(Quantity quantity, const Series& series) {
  std::vector<Point> points;
  for (const auto& [ranks, value] : series)
    points.push_back({static_cast<double>(ranks), cost_of(quantity, value)});
  return points;
}

std::optional<double> figure(const Figures& figures, Quantity quantity, int ranks) {
  const auto series = figures.find(quantity);
  if (series == figures.end()) return std::nullopt;
  const auto found = series->second.find(ranks);
  return found == series->second.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace parley::bench::scale
