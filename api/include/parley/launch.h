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
  // LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT, PARLEY_SECRET, PARLEY_STORE) and PARLEY_SPAWN are
  // spawn()'s to set: with one of them it throws UsageError.
  std::map<std::string, std::string> environment = {};
  // false: the processes are forks of the caller. true: each executes this program again, see spawn().
  bool exec = false;
};

// Starts `count` processes of this program, each of which calls `fn(rank, count)` with the environment that
// init() reads, and waits for all of them. A process that fails ends the others (SIGTERM, 5 s, SIGKILL).
// Returns 0, or the exit code of the first rank that failed, or 128 + the signal that ended it, or 124 after
// the timeout.
//
// A child dies with its parent and never returns from here: it leaves with 0, or with 1 after printing an
// exception of `fn`. In a forked child of a process that had a world, spawn() throws ForkedError.
//
// Without `exec` the processes are forks: the caller must have one thread only and no world, and not have
// used CUDA (else UsageError).
//
// With `exec` the caller may have all of these. Each process is this program, executed again with the same
// arguments (/proc/self/cmdline), in the working directory and with the environment that the caller has at
// this moment, to which the rank's variables are added. So main() runs again from its start, until it comes
// to the same call:
//
// * "The same" is by number: calls of spawn(), with `exec` or without, are counted from the start of the
//   program, and the children must make them in the caller's order. A call that comes before the one that is
//   meant starts nothing in a child: it ends as it did in the caller, with the same result, or with
//   UsageError where it threw one, and SystemError where it threw another.
// * All else on the way happens again, in each child: what main() prints, reads and starts, and init(), which
//   would join the new world before `fn` does. is_spawned() tells what only the caller should do.
// * `fn` is what the child's own call gets: what it has captured is what main() has computed there.
// * A child that ends before it comes to the call has failed, whatever its exit code: the report says "before
//   it came to its parley::spawn", and the result is that code, or 1 for code 0. A child that never ends is
//   for `timeout`.
// * The way to the call must keep the descriptor that PARLEY_SPAWN names open, and must not fork and go on as
//   the child (a daemon). A rank's own `fn` cannot spawn with `exec` (UsageError), but may without.
//
// Thread-safety: one call at a time (else UsageError). While it starts processes, and at the end of a child's
// way, nobody else may change the environment. The calling thread must not end before it returns.
PARLEY_API int spawn(int count, const std::function<void(int rank, int count)>& fn,
                     const SpawnOptions& options = {});

// Whether spawn() has started this process with `exec`: it is on its way to the call, or in its function.
// Thread-safety: safe.
[[nodiscard]] PARLEY_API bool is_spawned() noexcept;

}  // namespace parley
