#pragma once

#include <string>

#include "bench/scale/quantity.h"

namespace parley::bench::scale {

// All costs in one picture of letters: over the number of ranks, and as multiples of what each is for the
// fewest ranks; both axes logarithmic, so that what is constant lies flat, what is linear rises like the
// dotted line, and what is worse rises above it. Below, which letter is which. Empty where no quantity has
// two figures.
std::string growth_plot(const Figures& figures);

}  // namespace parley::bench::scale
