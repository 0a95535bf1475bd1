#include "bench/scale/law.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace parley::bench::scale {
namespace {

constexpr std::size_t least_points = 4;
// Points that are nearer to a curve than this say nothing against it: repeated measurements differ by more.
constexpr double usual_error = 0.03;
// By how much the score of a law must be below that of a lesser one. Twice the logarithm of a ratio of
// likelihoods: 4 is e^2, so it must tell the points 7 times as well.
constexpr double clear_margin = 4;
constexpr int fit_steps = 20;
constexpr double most_misfit = 0.5;

struct Shape {
  Law law;
  std::string_view text;
  double (*of)(double ranks);
};

// The least first. The constant has no shape of its own: its step is 0.
constexpr std::array<Shape, 4> shapes = {{
    {Law::logarithmic, "log2 n", [](double n) { return std::log2(n); }},
    {Law::linear, "n", [](double n) { return n; }},
    {Law::worse, "n log2 n", [](double n) { return n * std::log2(n); }},
    {Law::worse, "n^2", [](double n) { return n * n; }},
}};

double cost_at(const Growth& growth, double (*of)(double), double ranks) {
  return growth.base + growth.step * of(ranks);
}

// One step: each point weighs one over the square of what the growth so far makes of it. What the points say
// themselves would not do as a weight: what happens to be low would count most.
void fit_again(std::span<const Point> points, double (*of)(double), Growth& growth) {
  double weight = 0, x = 0, xx = 0, y = 0, xy = 0;
  for (const Point& point : points) {
    const double told = cost_at(growth, of, point.ranks);
    const double w = 1 / (told * told);
    const double value = of(point.ranks);
    weight += w;
    x += w * value;
    xx += w * value * value;
    y += w * point.cost;
    xy += w * value * point.cost;
  }
  const double determinant = weight * xx - x * x;
  growth.base = (y * xx - x * xy) / determinant;
  growth.step = (weight * xy - x * y) / determinant;
  if (growth.base <= 0) {
    growth.base = 0;
    growth.step = xy / xx;
  }
}

double misfit_of(std::span<const Point> points, const Growth& growth, double (*of)(double)) {
  double sum = 0;
  for (const Point& point : points) {
    const double error = std::log(point.cost / cost_at(growth, of, point.ranks));
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(points.size()));
}

Growth constant_of(std::span<const Point> points) {
  Growth growth;
  for (const Point& point : points) growth.base += point.cost / static_cast<double>(points.size());
  growth.misfit = misfit_of(points, growth, [](double) { return 0.0; });
  return growth;
}

// REQUIRES: two different numbers of ranks at least.
Growth growth_of(std::span<const Point> points, const Shape& shape) {
  Growth growth = constant_of(points);
  for (int i = 0; i < fit_steps; ++i) {
    fit_again(points, shape.of, growth);
    if (growth.step <= 0) return constant_of(points);
  }
  growth.law = shape.law;
  growth.shape = shape.text;
  growth.misfit = misfit_of(points, growth, shape.of);
  return growth;
}

// Schwarz's criterion; lower is better.
double score_of(const Growth& growth, std::size_t count) {
  const auto points = static_cast<double>(count);
  const double numbers = growth.law == Law::constant ? 1 : 2;
  return points * std::log(growth.misfit * growth.misfit + usual_error * usual_error) +
         numbers * std::log(points);
}

}  // namespace

std::string_view name(Law law) noexcept {
  switch (law) {
    case Law::constant: return "constant";
    case Law::logarithmic: return "logarithmic";
    case Law::linear: return "linear";
    case Law::worse: return "worse";
  }
  return {};
}

double cost_at(const Growth& growth, double ranks) {
  for (const Shape& shape : shapes)
    if (shape.text == growth.shape) return cost_at(growth, shape.of, ranks);
  return growth.base;
}

bool is_told(const Growth& growth) noexcept {
  return growth.misfit <= most_misfit;
}

std::optional<Growth> fit_growth(std::span<const Point> points) {
  const bool positive = std::all_of(points.begin(), points.end(),
                                    [](const Point& point) { return point.ranks > 0 && point.cost > 0; });
  if (points.size() < least_points || !positive) return std::nullopt;
  Growth best = constant_of(points);
  for (const Shape& shape : shapes) {
    const Growth growth = growth_of(points, shape);
    if (score_of(growth, points.size()) < score_of(best, points.size()) - clear_margin) best = growth;
  }
  return best;
}

std::string describe(const Growth& growth) {
  std::string text = fmt::format("{}: {:.3g}", name(growth.law), growth.base);
  if (growth.law != Law::constant) text += fmt::format(" + {:.3g} {}", growth.step, growth.shape);
  return text + fmt::format(", within {:.0f} %", 100 * growth.misfit);
}

}  // namespace parley::bench::scale
