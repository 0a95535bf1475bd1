#pragma once

#include "bench/raw_link.h"
#include "bench/shared_memory.h"
#include "bench/world.h"
#include "transport/base/unique_fd.h"

namespace parley::bench {

// What joins two neighbouring ranks (0-1, 2-3, ...) beside the measured library: a bare TCP connection, and
// memory for the flags of a probe and of a gate.
struct Pair {
  int index = 0;
  bool leads = false;  // the even rank: it starts every exchange and holds the watch
  int partner = -1;
  RawLink link;
  SharedMemory page;
  base::UniqueFd other_end = {};  // of the link, where a rank is its own partner

  // Where the flags of the gate begin.
  [[nodiscard]] void* gate_flags() const noexcept;
  // This rank's place in the pair, as one that takes part in a gate.
  [[nodiscard]] int place() const noexcept { return leads ? 0 : 1; }
};

// Called by all ranks; the world carries the addresses. Of an odd number the last one is its own partner, for
// collectives need no pairs. Throws
// std::runtime_error (or the library's or the system's error) when the partner cannot be reached, such as on
// another host.
Pair make_pair_of(World& world, Idle idle);

}  // namespace parley::bench
