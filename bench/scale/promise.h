#pragma once

#include <string>
#include <vector>

#include "bench/scale/quantity.h"

namespace parley::bench::scale {

// What README.md promises of a rank that is idle: the most it has in a world of so many ranks. Nothing where
// nothing is promised of the quantity.
std::optional<double> promised(Quantity quantity, int ranks) noexcept;

// A line for each figure that is beyond it.
std::vector<std::string> breaches_of(const Figures& figures);

}  // namespace parley::bench::scale
