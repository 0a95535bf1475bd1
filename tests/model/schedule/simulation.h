#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/model/schedule/group.h"

namespace parley::schedule {

// When a send ends: as soon as the link has a copy, or only when the receiver has the data; or each message
// as chance will have it.
enum class Sends : std::uint8_t { buffered, rendezvous, mixed };

// Runs the schedules of all ranks in one thread, in an order drawn from `seed`, by the rules in schedule.h
// and no others. "" if they come to an end and every rank has what the operation promises; else what is
// wrong. A message never overtakes another of its lane in being matched, but may end before it.
std::string simulate(const Group& group, const std::vector<Schedule>& schedules, Sends sends,
                     std::uint32_t seed);

// A barrier: runs all that can run while rank `late` has begun nothing. "" if then nobody is done.
std::string simulate_late(const Group& group, const std::vector<Schedule>& schedules, std::uint32_t late);

}  // namespace parley::schedule
