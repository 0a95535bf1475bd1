#pragma once

#include <span>
#include <string>

#include "bench/tune/finding.h"
#include "bench/tune/tune_options.h"

namespace parley::bench::tune {

// The remarks on top of a file: on which machine it was measured, when, and by which command.
std::string remarks_on(const TuneOptions& options, const std::string& command,
                       std::span<const Finding> findings);

// A line for each case: the price model's choice and the table's, with their times.
std::string summary_of(std::span<const Finding> findings);

}  // namespace parley::bench::tune
