#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/compare/study.h"

namespace parley::bench::compare {

// What a terminal can show.
struct TerminalStyle {
  bool braille = false;  // UTF-8: eight dots a character; else a letter for each system
  bool colours = false;
};

// Of stdout and the environment's locale.
TerminalStyle terminal_style();

// A case as a plot of 14 lines with both axes logarithmic, and the systems' names at the ends of their
// curves. Each line ends with a line end.
std::string terminal_plot(const CaseView& view, const TerminalStyle& style);

}  // namespace parley::bench::compare
