#include "tools/figures/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string_view>

namespace parley::figures {
namespace {

struct Unit {
  double size;
  std::string_view name;
};
// Largest first; the last one takes all that is smaller.
constexpr std::array<Unit, 4> time_units = {{{1e6, "s"}, {1e3, "ms"}, {1, "µs"}, {1e-3, "ns"}}};
constexpr std::array<Unit, 3> bandwidth_units = {{{1e3, "GB/s"}, {1, "MB/s"}, {1e-3, "kB/s"}}};
constexpr std::array<Unit, 3> rate_units = {{{1e3, "G/s"}, {1, "M/s"}, {1e-3, "k/s"}}};

template <std::size_t count>
std::string label(const std::array<Unit, count>& units, double value) {
  const auto unit = std::find_if(units.begin(), units.end() - 1,
                                 [value](const Unit& one) { return value >= one.size * 0.9999; });
  return fmt::format("{:.3g} {}", value / unit->size, unit->name);
}

constexpr double two_decades = 100;
constexpr double four_fold = 4;

}  // namespace

LogScale::LogScale(double at_least, double at_most, double from, double to) noexcept
    : log_least_(std::log(at_least)),
      log_range_(std::log(at_most) - std::log(at_least)),
      from_(from),
      range_(to - from) {}

double LogScale::operator()(double value) const noexcept {
  return from_ + range_ * (std::log(value) - log_least_) / log_range_;
}

Range range_of(const std::vector<double>& values, double air) noexcept {
  Range range{0, 0};
  for (const double value : values) {
    if (!(value > 0) || !std::isfinite(value)) continue;
    range.least = range.least > 0 ? std::min(range.least, value) : value;
    range.most = std::max(range.most, value);
  }
  if (range.least == 0) return {0.5, 2};
  return {range.least / air, range.most * air};
}

std::vector<std::size_t> power_ticks(std::size_t least, std::size_t most_value, int most) {
  const std::size_t first = std::bit_ceil(std::max<std::size_t>(least, 1));
  const std::size_t last = std::bit_floor(std::max<std::size_t>(most_value, 1));
  if (first > last) return {};
  const int powers = std::countr_zero(last) - std::countr_zero(first);
  const int step = std::max(1, (powers + most - 1) / most);
  std::vector<std::size_t> ticks;
  for (int power = 0; power <= powers; power += step) ticks.push_back(first << power);
  return ticks;
}

std::vector<double> decimal_ticks(const Range& range) {
  const bool is_fine = range.most / range.least < two_decades;
  std::vector<double> ticks;
  const int last = static_cast<int>(std::ceil(std::log10(range.most)));
  for (int power = static_cast<int>(std::floor(std::log10(range.least))); power <= last; ++power) {
    for (const int digit : {1, 2, 5}) {
      const double tick = digit * std::pow(10, power);
      if ((is_fine || digit == 1) && tick >= range.least && tick <= range.most) ticks.push_back(tick);
    }
  }
  return ticks;
}

std::vector<double> ratio_ticks(const Range& range) {
  std::vector<double> ticks;
  if (range.most / range.least < four_fold) {
    for (const double tick : {0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0})
      if (tick >= range.least && tick <= range.most) ticks.push_back(tick);
    return ticks;
  }
  // Powers of two, four at most on each side.
  const double decades = std::log2(range.most / range.least);
  const int step = std::max(1, static_cast<int>(std::ceil(decades / 6)));
  for (int power = -step * 8; power <= step * 8; power += step) {
    const double tick = std::pow(2, power);
    if (tick >= range.least && tick <= range.most) ticks.push_back(tick);
  }
  return ticks;
}

std::string time_label(double us) {
  return label(time_units, us);
}

std::string bandwidth_label(double mb_per_s) {
  return label(bandwidth_units, mb_per_s);
}

std::string rate_label(double millions_per_s) {
  return label(rate_units, millions_per_s);
}

}  // namespace parley::figures
