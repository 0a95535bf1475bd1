#pragma once

#include <parley/export.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>

namespace parley {

struct SpawnOptions {
  bool prefix_output = true;  // put "[rank] " before every line of the processes
  std::string log_dir = {};   // also write rank-N.out and rank-N.err here
  std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max();
  // Further variables for every process. Those by which init() finds the others (RANK, WORLD_SIZE,
  // LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT, PARLEY_SECRET, PARLEY_STORE) are spawn()'s to
  // set: with one of them it throws UsageError.
  std::map<std::string, std::string> environment = {};
};

// Starts `count` processes of this program, each of which calls `fn(rank, count)` with the environment that
// init() reads, and waits for all of them. A process that fails ends the others (SIGTERM, 5 s, SIGKILL).
// Returns 0, or the exit code of the first rank that failed, or 128 + the signal that ended it, or 124 after
// the timeout.
//
// The processes are forks: the caller must have one thread only and no world, and not have used CUDA (else
// UsageError; ForkedError in a forked child of a process that had a world). A child dies with its parent and
// never returns from here: it leaves with 0, or with 1 after printing an exception. Thread-safety: none, for
// there is one thread only.
PARLEY_API int spawn(int count, const std::function<void(int rank, int count)>& fn,
                     const SpawnOptions& options = {});

}  // namespace parley
