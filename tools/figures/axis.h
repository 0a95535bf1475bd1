#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace parley::figures {

// A logarithmic scale from values to places of a drawing.
class LogScale {
 public:
  // `at_least` and `at_most` lie at `from` and `to`. REQUIRES: 0 < at_least < at_most.
  LogScale(double at_least, double at_most, double from, double to) noexcept;
  [[nodiscard]] double operator()(double value) const noexcept;

 private:
  double log_least_;
  double log_range_;
  double from_;
  double range_;
};

// The range that holds all of them with a little air, for a logarithmic axis; positive and not empty,
// whatever was given.
struct Range {
  double least;
  double most;
};
Range range_of(const std::vector<double>& values, double air = 1.25) noexcept;

// Powers of two in the range, every one or every second, third, ..., so that there are at most `most`.
std::vector<std::size_t> power_ticks(std::size_t least, std::size_t most_value, int most);

// 1, 10, 100, ...; between them 2 and 5 where the range has less than two decades.
std::vector<double> decimal_ticks(const Range& range);

// Halves and doubles around 1 in the range; finer steps where it is narrow.
std::vector<double> ratio_ticks(const Range& range);

// Microseconds, 1e6 bytes a second, millions a second, each in the unit that a person would take: "200 ns",
// "10 us" with the sign for micro, "1 GB/s", "5 M/s".
std::string time_label(double us);
std::string bandwidth_label(double mb_per_s);
std::string rate_label(double millions_per_s);

}  // namespace parley::figures
