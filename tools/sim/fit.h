#pragma once

#include <functional>
#include <span>
#include <vector>

namespace parley::sim {

inline constexpr double least_pull = 1e-6;

// x >= 0 of the least sum of squares of A x - b, where `near` decides what b does not: it pulls by `pull`, in
// parts of what a row says of a parameter as large as in `near`. `a` by rows, each as long as `near`, whose
// numbers are above 0. Coordinate descent on the normal equations (Franc, Hlavac, Navara: Sequential
// coordinate-wise algorithm for the non-negative least squares problem, CAIP 2005).
std::vector<double> least_squares(std::span<const double> a, std::span<const double> b,
                                  std::span<const double> near, double pull = least_pull);

// The time of each row, from all parameters.
using Predict = std::function<std::vector<double>(std::span<const double>)>;

// The sum of squared relative errors.
double squared_errors(std::span<const double> predicted, std::span<const double> measured);

// What a parameter more adds to each time, in parts of the measured one: by rows.
std::vector<double> slopes(const Predict& predict, std::span<const double> measured,
                           std::span<const double> at);

// Parameters of which `predict` makes times that are near the measured ones: of the least sum of squared
// relative errors, by steps from `start` on (Levenberg: A method for the solution of certain non-linear
// problems in least squares, Quarterly of Applied Mathematics 2, 1944; Marquardt, 1963). All of `start` are
// above 0, and stay so.
std::vector<double> fit(const Predict& predict, std::span<const double> measured, std::vector<double> start);

}  // namespace parley::sim
