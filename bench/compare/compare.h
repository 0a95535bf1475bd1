#pragma once

#include <string>
#include <vector>

#include "bench/compare/study.h"

namespace parley::bench::compare {

// Measures the workload and judges what came. `raw` is whether the limit has a column. The study's `command`
// is the caller's to fill in. `signal` receives the signal that ended it early, else 0.
Study conduct(const Workload& workload, const Budget& budget, bool raw, Progress& progress, int& signal);

// The exit status of what a signal ended is this and the signal, as shells have it.
inline constexpr int exit_signal = 128;

// The path of this program, beside which the peers stand.
std::string own_program();

// `parley-bench compare`; `arguments` are the words after it. The exit status. Throws CommandLineError before
// anything is measured, and std::runtime_error.
int compare_main(const std::vector<std::string>& arguments);

}  // namespace parley::bench::compare
