#include "tests/multiprocess/strangers/process_use.h"

#include <ctime>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
std::chrono::nanoseconds cpu_time_of(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  expect(clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &time) == 0,
         "another process's clock");
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace parley::testing
