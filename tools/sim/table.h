#pragma once

#include <string>

#include "tools/sim/study.h"

namespace parley::sim {

// Everything as plain ASCII: the calibration's errors, for each number of ranks a table with a line for each
// size, and where which algorithm is the fastest.
std::string tables_of(const Study& study);

// What the model says, in a line for each tier.
std::string model_text(const Model& model);

}  // namespace parley::sim
