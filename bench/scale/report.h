#pragma once

#include <string>

#include "bench/scale/quantity.h"
#include "bench/scale/scale_options.h"

namespace parley::bench::scale {

// Columns of what was measured, a line for each number of ranks. What is missing is "-".
std::string table_of(const ScaleOptions& options, const Figures& figures);

// By which law a quantity grows, in words. REQUIRES: it was measured.
std::string law_text(const QuantityInfo& one, const Figures& figures);

// A line for each quantity: by which law it grows.
std::string laws_of(const Figures& figures);

// What the figures come to: start beside Open MPI's, a look at many beside one at one peer, the promise.
std::string verdicts_of(const Figures& figures);

// Rows, one JSON object a line: each figure, then each law.
std::string rows_of(const ScaleOptions& options, const Figures& figures);

}  // namespace parley::bench::scale
