#pragma once

#include <string>

#include "bench/compare/study.h"

namespace parley::bench::compare {

// Rows of the schema parley-bench/1 (bench/README.md), one JSON object a line, for each system of each line;
// with the fields that only a comparison knows: its ratios of times, and the samples themselves, from which
// --compare makes intervals.
std::string json_rows_of(const Study& study);

// The same without the samples, as a table with a header for spreadsheets: RFC 4180, empty where a field does
// not apply.
std::string csv_of(const Study& study);

}  // namespace parley::bench::compare
