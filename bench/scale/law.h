#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace parley::bench::scale {

// How a cost grows with the number of ranks.
enum class Law { constant, logarithmic, linear, worse };

std::string_view name(Law law) noexcept;

// What a cost was with so many ranks. Both are positive.
struct Point {
  double ranks;
  double cost;
};

// cost = base + step * shape(ranks).
struct Growth {
  Law law = Law::constant;
  std::string_view shape;  // "log2 n", "n", "n log2 n", "n^2"; "" of a constant
  double base = 0;
  double step = 0;    // 0 of a constant
  double misfit = 0;  // root of the mean squared error of the points' logarithms: about the relative one
};

// What it makes of so many ranks.
double cost_at(const Growth& growth, double ranks);

// Whether the curve is near enough to its points to say anything of them.
bool is_told(const Growth& growth) noexcept;

// The least of these laws that the points are told by: least squares of relative errors, neither base nor
// step negative. One with a further number must be clearly better to win. Nothing: fewer than four points, or
// one that is not positive. REQUIRES: all numbers of ranks differ.
std::optional<Growth> fit_growth(std::span<const Point> points);

// "linear: 3.1 + 0.92 n, within 4 %".
std::string describe(const Growth& growth);

}  // namespace parley::bench::scale
