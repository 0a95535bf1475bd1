#pragma once

#include <parley/process_group.h>

#include <cstdint>

#include "tests/multiprocess/traffic/message_memory.h"
#include "tests/multiprocess/traffic/plan.h"

namespace parley::testing {

enum class Style : std::uint8_t {
  mixed,       // sends and receives are started in turn
  send_first,  // all sends are started before the first receive: both directions of every link are full
  threads,     // one thread sends with blocking calls while another one receives
};

// What messages are sent from, and what they are received into; two threads use them at the same time.
struct TrafficMemory {
  MemorySource out = host_memory;
  MemorySource in = host_memory;
};

// One rank's part of a random program: every message arrives, every byte of it, and nothing else. By all
// ranks.
void exchange_at_random(ProcessGroup& world, const PlanOptions& options, Style style,
                        const TrafficMemory& memory = {});

}  // namespace parley::testing
