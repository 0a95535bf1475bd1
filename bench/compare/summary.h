#pragma once

#include <string>

#include "bench/compare/study.h"

namespace parley::bench::compare {

// The library against the best peer at one look: for each setting a Markdown table with a row for each
// operation and a column for each size. Cells hold the ratio of times and the upper end of its 95 % interval:
// "0.98, 1.03", "0.98, ?" of fewer than three pairs, "0.98, 1.03 ~" of a MIXED line, which a legend below the
// tables explains; DISTURBED figures are left out, as "-". Empty when no line has a peer.
std::string summary_of(const Study& study);

}  // namespace parley::bench::compare
