#pragma once

#include <string>

#include "tests/model/schedule/group.h"

namespace parley::schedule {

// Everything that is to be proved of one case: inspection, simulation, promised cost. "" or what is wrong.
// A case that the algorithm does not fit is right.
std::string prove(const Case& one, std::uint32_t seed);

// The same for schedules that somebody changed.
std::string prove(const Group& group, const std::vector<Schedule>& schedules, std::uint32_t seed);

}  // namespace parley::schedule
