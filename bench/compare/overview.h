#pragma once

#include <string>

#include "bench/compare/study.h"
#include "bench/compare/terminal_plot.h"

namespace parley::bench::compare {

// `parley-bench` alone: latency and bandwidth over shared memory and TCP, two ranks, with all peers that are
// there, in two minutes. Plots, a verdict for each, and a page in the current folder. The exit status. Throws
// std::runtime_error when Parley could not be measured.
int overview_main();

// What it prints: for each case a heading, its plot and its verdict.
std::string overview_text(const Study& study, const TerminalStyle& style);

}  // namespace parley::bench::compare
