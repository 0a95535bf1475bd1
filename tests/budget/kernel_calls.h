#pragma once

#include <cstdint>
#include <string>

namespace parley::testing {

// What one thread asks of the kernel, whatever function it calls: a seccomp filter of that thread tells of
// each system call, a second thread counts it and lets it go on. Linux 5.5. What a rank does that has waited
// for longer than a message takes, sched_yield(2) and epoll_wait(2), passes the filter and is counted by
// replaced functions: told to another thread it would take so long that the other rank waits for long, too,
// and the two would never find back to their pace.
class KernelCalls {
 public:
  // Counts those of the calling thread, and of threads that it starts, for the rest of the process. Once in a
  // process. Throws std::runtime_error where no filter can be installed.
  static void watch();

  // So far. Thread-safety: the watched thread's.
  [[nodiscard]] static std::uint64_t count() noexcept;
  // The same of the call of this number, as in <sys/syscall.h>.
  [[nodiscard]] static std::uint64_t count(int number) noexcept;
  // Those that were made, for people: "24: 3 times, 202: once".
  [[nodiscard]] static std::string describe();
};

}  // namespace parley::testing
