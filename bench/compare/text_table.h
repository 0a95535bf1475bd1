#pragma once

#include <string>

#include "bench/compare/study.h"

namespace parley::bench::compare {

// One table for each operation, in plain ASCII: for each case a block with the systems' medians and, in
// brackets, their spread in per cent; times of the library over those of the best peer and of the limit with
// their 95 % interval; where the cores were. What is missing is "-", and remarks say why.
std::string tables_of(const Study& study);

// "0.59 [0.57, 0.61]"
std::string format_ratio(const std::optional<Ratio>& ratio);

}  // namespace parley::bench::compare
