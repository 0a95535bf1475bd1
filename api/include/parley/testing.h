#pragma once

#include <parley/export.h>
#include <parley/process_group.h>

#include <chrono>
#include <cstdint>
#include <functional>

namespace parley::testing {

// Faults of the simulated network between the ranks; all decided by `seed`.
struct Faults {
  std::uint64_t seed = 1;
  double delay = 0;            // probability that a packet is held back for a while, order kept
  double refusal = 0;          // probability that a send is refused and must be tried again
  int dead_rank = -1;          // this rank's links break ...
  int dead_after_packets = 0;  // ... after it has sent so many packets
};

struct WorldOptions {
  Faults faults = {};
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);  // of every operation
};

// Runs `fn` once per rank, each in a thread of its own, in one process and without a socket: for unit tests
// of code that communicates. Returns when all have returned; rethrows the first exception, by rank.
PARLEY_API void run_world(int size, const std::function<void(ProcessGroup&)>& fn,
                          const WorldOptions& options = {});

}  // namespace parley::testing
