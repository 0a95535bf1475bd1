#pragma once

#include <parley/process_group.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

namespace parley::testing {

// Resident bytes.
struct Memory {
  std::size_t own = 0;
  std::size_t shared = 0;  // with other processes, or files
};

// That a process has no more descriptors, no more threads and hardly more memory than at an earlier moment.
// It may be another one, for instance the one that keeps the store.
class Flatness {
 public:
  explicit Flatness(pid_t pid = getpid()) : pid_(pid) {}

  // From now on. Call it when the process has all that it keeps for good.
  void begin();
  // Throws Unexpected when it has grown since begin(). What ends a moment later is waited for.
  // `growth_bytes`: of resident memory of its own; under sanitizers, which keep what was freed, 384 MiB more.
  // Of shared memory there may be more by the windows that links have come to need only now.
  void expect_as_before(std::size_t growth_bytes = std::size_t{8} << 20) const;
  // Prints what it has now beside what it had.
  void report(const char* what) const;

 private:
  pid_t pid_;
  std::size_t descriptors_ = 0;
  std::size_t threads_ = 0;
  Memory memory_;
};

// Whatever a rank may come to keep, it keeps from here on: room for as much as may wait unmatched (4 MiB of
// each peer), and the windows of links that carry much (transport/shm/LARGE_MESSAGES.md). Called by all
// ranks.
void reach_limits(ProcessGroup& world);

// What a process of this user has now.
[[nodiscard]] Memory memory_of(pid_t pid);
[[nodiscard]] std::size_t descriptors_of(pid_t pid);
[[nodiscard]] std::size_t threads_of(pid_t pid);

}  // namespace parley::testing
