#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bench/op.h"
#include "bench/row.h"

namespace parley::bench {

// A table of several systems at each size, a line for each of them, for operations between two ranks.

// What the figures of an operation are: "latency: one way, microseconds".
std::string side_by_side_title(Op op);
// The figure that a table shows for a message of the row's size that takes so long.
double side_by_side_figure(const Row& row, double us) noexcept;

// Two lines: what the figures are, and the columns. `systems` stands above the names, `ratio` above
// Row::ratio_to_limit, `last` above what side_by_side_line() ends with.
std::string side_by_side_header(Op op, std::string_view systems, std::string_view ratio,
                                std::string_view last);

// One line with its line end. REQUIRES: the row was compared with a limit.
std::string side_by_side_line(const Row& row, std::string_view system, std::string_view last);

// Comment lines for what must be known about rows of the same rounds: that a rank had less than its core,
// that rounds were left out, that the rows are void; "" if there is nothing.
std::string side_by_side_notes(std::span<const Row* const> rows);

}  // namespace parley::bench
