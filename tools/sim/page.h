#pragma once

#include <string>

#include "tools/sim/study.h"

namespace parley::sim {

// Everything as one page that needs nothing else: maps of the fastest algorithm and of what the library's
// choice costs, a chart and a table for each number of ranks, the model and its errors. Readable on light and
// dark ground; well-formed XML as well as HTML.
std::string page_of(const Study& study);

}  // namespace parley::sim
