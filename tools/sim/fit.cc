#include "tools/sim/fit.h"

#include <algorithm>
#include <cmath>

namespace parley::sim {
namespace {

constexpr int sweeps = 3000;
constexpr double least_change = 1e-12;
constexpr int steps = 40;
constexpr double most_pull = 1e4;
constexpr double pull_factor = 10;
constexpr double least_gain = 1e-6;  // of the squares, for one more step
constexpr double difference = 1e-3;  // by which a parameter is moved to see what it does
constexpr double least_part = 1e-6;  // of its start that a parameter keeps
constexpr double seen_part = 1e-2;   // of its start: with less, what it does is looked at with so much

// As large as the parameters, but not so small that nothing can be seen of one.
std::vector<double> scale_of(std::span<const double> at, std::span<const double> start) {
  std::vector<double> scale(at.begin(), at.end());
  for (std::size_t i = 0; i < scale.size(); ++i) scale[i] = std::max(scale[i], start[i] * seen_part);
  return scale;
}

std::vector<double> slopes_by(const Predict& predict, std::span<const double> measured,
                              std::span<const double> at, std::span<const double> scale) {
  const std::size_t count = at.size(), rows = measured.size();
  const std::vector<double> here = predict(at);
  std::vector<double> a(rows * count);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double> moved(at.begin(), at.end());
    moved[i] += scale[i] * difference;
    const std::vector<double> there = predict(moved);
    for (std::size_t row = 0; row < rows; ++row)
      a[row * count + i] = (there[row] - here[row]) / (scale[i] * difference) / measured[row];
  }
  return a;
}

}  // namespace

std::vector<double> least_squares(std::span<const double> a, std::span<const double> b,
                                  std::span<const double> near, double pull) {
  const std::size_t count = near.size();
  // In parts of `near`, so that all unknowns are about 1.
  std::vector<double> product(count * count), right(count);
  for (std::size_t row = 0; row < b.size(); ++row)
    for (std::size_t i = 0; i < count; ++i) {
      const double left = a[row * count + i] * near[i];
      if (left == 0) continue;
      right[i] += left * b[row];
      for (std::size_t j = 0; j < count; ++j) product[i * count + j] += left * a[row * count + j] * near[j];
    }
  for (std::size_t i = 0; i < count; ++i) {
    product[i * count + i] += pull;
    right[i] += pull;
  }
  std::vector<double> x(count, 1);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    double change = 0;
    for (std::size_t i = 0; i < count; ++i) {
      double gradient = -right[i];
      for (std::size_t j = 0; j < count; ++j) gradient += product[i * count + j] * x[j];
      const double next = std::max(0.0, x[i] - gradient / product[i * count + i]);
      change = std::max(change, std::abs(next - x[i]));
      x[i] = next;
    }
    if (change < least_change) break;
  }
  for (std::size_t i = 0; i < count; ++i) x[i] *= near[i];
  return x;
}

double squared_errors(std::span<const double> predicted, std::span<const double> measured) {
  double sum = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) sum += std::pow(predicted[i] / measured[i] - 1, 2);
  return sum;
}

std::vector<double> slopes(const Predict& predict, std::span<const double> measured,
                           std::span<const double> at) {
  return slopes_by(predict, measured, at, at);
}

std::vector<double> fit(const Predict& predict, std::span<const double> measured, std::vector<double> start) {
  const std::size_t count = start.size(), rows = measured.size();
  std::vector<double> best = start, predicted = predict(best);
  double pull = least_pull;
  for (int step = 0; step < steps; ++step) {
    const std::vector<double> scale = scale_of(best, start);
    const std::vector<double> a = slopes_by(predict, measured, best, scale);
    // What all parameters together have to explain, if slopes stay.
    std::vector<double> wanted(rows, 1);
    for (std::size_t row = 0; row < rows; ++row) {
      wanted[row] -= predicted[row] / measured[row];
      for (std::size_t i = 0; i < count; ++i) wanted[row] += a[row * count + i] * best[i];
    }
    const double before = squared_errors(predicted, measured);
    double after = before;
    // The shorter, the less slopes change on the way: until it makes things better.
    for (; pull <= most_pull; pull *= pull_factor) {
      std::vector<double> next = least_squares(a, wanted, scale, pull);
      for (std::size_t i = 0; i < count; ++i) next[i] = std::max(next[i], start[i] * least_part);
      std::vector<double> times = predict(next);
      after = squared_errors(times, measured);
      if (after >= before) continue;
      best = std::move(next);
      predicted = std::move(times);
      break;
    }
    if (after > before * (1 - least_gain)) break;
    pull = std::max(pull / pull_factor, least_pull);
  }
  return best;
}

}  // namespace parley::sim
