#pragma once

#include <string>

#include "bench/row.h"

namespace parley::bench {

// Two lines that say what the columns are, in the manner of the OSU benchmarks, each with its line end.
std::string table_header(Op op);

// One line with its line end. `raw` is the raw system's row of the same subject.
std::string table_line(const Row& row, const Row& raw);

// The same of collectives; a line of a row that is void, or disturbed, is followed by a comment that says so.
// `has_limit`: rows are compared with a limit, or they are none of them; lines then end with the ratio.
std::string collective_header(bool has_limit = false);
std::string collective_line(const Row& row);

// A comment line when a rank had less than its core, so that neither the figures nor their ratio can be
// trusted, or when rounds of that kind were left out; further ones for what is void; else empty. Both rows
// are of the same subject.
std::string disturbance_note(const Row& parley, const Row& raw);

}  // namespace parley::bench
