#pragma once

#include <string>

#include "bench/compare/study.h"

namespace parley::bench::compare {

// One case as an inline SVG element: all systems' figures over the size, both axes logarithmic, with the band
// between each system's extremes and its name at the end of its curve; beneath, the library's time over the
// best peer's and over the limit's, with their intervals. Needs the page's colour_style() and chart_style().
// Nothing to draw gives an empty text.
std::string chart_of(const CaseView& view);

// The same with a title and its styles, for a file of its own.
std::string standalone_chart_of(const CaseView& view);

}  // namespace parley::bench::compare
