#pragma once

#include <span>
#include <string>

#include "tools/sim/contest.h"

namespace parley::sim {

// The contests of one number of ranks as an inline SVG element: the time of each algorithm over the size,
// both axes logarithmic, with its name at the end of its curve, and the bound; a ring marks what the library
// takes. Curves leave the picture above where they are 300 times as slow as the fastest. Needs the page's
// styles.
std::string chart_of(std::span<const Contest> contests);

// The same with a title and its styles, for a file of its own.
std::string standalone_chart_of(std::span<const Contest> contests);

}  // namespace parley::sim
