#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/scale/quantity.h"

namespace parley::bench::scale {

// Quantities of one unit that stand in one drawing.
struct Panel {
  std::string_view slug;  // of its file and its place on the page
  std::string_view title;
  std::vector<Quantity> quantities;
};

// All that there can be, in the order of the table.
std::span<const Panel> panels();

// Whether any of its quantities was measured.
bool has_figures(const Panel& panel, const Figures& all);

// The panel as an inline SVG element: each quantity over the number of ranks, both axes logarithmic; beside
// its points, dashed, the law by which it grows and, dotted, the most that is promised. Needs the page's
// styles and curve_style(). REQUIRES: has_figures().
std::string chart_of(const Panel& panel, const Figures& all);

// The same with a title and its styles, for a file of its own.
std::string standalone_chart_of(const Panel& panel, const Figures& all);

// How the curves look, light and dark, as CSS.
std::string_view curve_style();

}  // namespace parley::bench::scale
