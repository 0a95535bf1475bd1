#pragma once

#include <parley/export.h>
#include <parley/process_group.h>

#include <chrono>
#include <cstdint>
#include <functional>

namespace parley::testing {

// Faults of the links between the ranks, decided by `seed`; probabilities are 0 to 1.
struct Faults {
  std::uint64_t seed = 1;
  double delay = 0;    // that an arriving packet, and all behind it, is held back for a while
  double refusal = 0;  // that a link refuses a packet, which is then sent later
  double split = 0;    // that a payload arrives in pieces
  int dead_rank = -1;  // all links of this rank break ...
  std::uint64_t dead_after_packets = 1;  // ... at the packet of this number that reaches it
  int truncated_rank = -1;               // one link of this rank breaks (if it is not the dead one) ...
  std::uint64_t truncated_packet = 1;    // ... in the middle of the packet of this number that reaches it
};

struct WorldOptions {
  Faults faults = {};
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);  // of every operation
};

// Runs `fn` once per rank, each in a thread of its own, in one process and without a socket: for unit tests
// of code that communicates. Returns when all have returned. Rethrows the first exception in time, for later
// ones are often its consequence: who throws leaves the world, and the others miss it.
// Throws UsageError when `size` is not 1 or more, ResourceError when there are no threads for all ranks; then
// `fn` was not called. Thread-safety: safe; worlds know nothing of each other, nor of one made by init().
PARLEY_API void run_world(int size, const std::function<void(ProcessGroup&)>& fn,
                          const WorldOptions& options = {});

}  // namespace parley::testing
