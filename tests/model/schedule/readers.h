#pragma once

#include <string>
#include <vector>

#include "api/schedule/schedule.h"

namespace parley::schedule {

// Whether what copies say that one rank alone reads (Step::peer) is read by that one, and by no other. "" or
// what is wrong.
std::string check_readers(const std::vector<Schedule>& schedules);

}  // namespace parley::schedule
