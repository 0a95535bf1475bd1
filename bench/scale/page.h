#pragma once

#include <string>

#include "bench/scale/quantity.h"
#include "bench/scale/scale_options.h"

namespace parley::bench::scale {

// What stands around the figures.
struct Setting {
  std::string command;
  int cores = 0;
  std::string remark;  // what was not measured, and why; empty: nothing
};

// Everything as one page that needs nothing else: a chart for each quantity with the law by which it grows,
// the verdicts, the table, the machine and the command. Readable on light and dark ground; well-formed XML as
// well as HTML.
std::string page_of(const ScaleOptions& options, const Figures& all, const Setting& setting);

}  // namespace parley::bench::scale
