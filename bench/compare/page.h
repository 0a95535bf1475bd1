#pragma once

#include <string>

#include "bench/compare/study.h"

namespace parley::bench::compare {

// Everything as one page that needs nothing else: the ratios at a glance, a chart and a table for each case,
// the machine and the exact commands. Readable on light and dark ground, in wide and narrow windows;
// well-formed XML as well as HTML.
std::string page_of(const Study& study);

}  // namespace parley::bench::compare
