#pragma once

#include <cstdint>
#include <vector>

#include "tests/model/schedule/group.h"

namespace parley::schedule {

// What a message takes, by what it crosses.
struct Price {
  std::uint64_t near_message = 0, near_element = 0;  // within a host
  std::uint64_t far_message = 0, far_element = 0;    // between hosts
  std::uint64_t latency = 0;                         // of every message, on top; occupies nobody
};

// When the last rank is done if each rank sends one message at a time and receives one at a time, both at
// once: of what is ready, or has come, that which stands first in its schedule. A message is under way from
// the beginning of its sending and occupies both ends for its price; nothing else takes time. REQUIRES: the
// schedules come to an end.
std::uint64_t port_time(const Group& group, const std::vector<Schedule>& schedules, const Price& price);

}  // namespace parley::schedule
