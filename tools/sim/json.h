#pragma once

#include <string>

#include "tools/sim/study.h"

namespace parley::sim {

// Everything as one JSON object, schema "parley-sim/1": see README.md. Times are microseconds.
std::string json_of(const Study& study);

}  // namespace parley::sim
