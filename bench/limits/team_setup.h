#pragma once

#include <cstddef>
#include <memory>

#include "bench/collective_buffers.h"
#include "bench/limits/team.h"
#include "bench/raw_link.h"
#include "bench/world.h"

namespace parley::bench {

// A team, and why its ranks cannot read each other's memory: the error number that one of them got, the same
// on all ranks; 0 when they can.
struct TeamSetup {
  std::unique_ptr<Team> team;
  int refusal = 0;
};

// Called by all ranks; the world carries processes, descriptors and addresses. `buffers`: the rank's own
// ones, for cross-memory reads. Borrows the link for the team's life. Throws the system's or the measured
// library's error.
TeamSetup open_team(World& world, CollectiveBuffers& buffers, std::size_t arena_bytes, const RawLink& link,
                    Idle idle);

}  // namespace parley::bench
