#include "tests/multiprocess/strangers/process_use.h"

#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

std::string folder_of(pid_t pid) {
  return "/proc/" + std::to_string(pid) + "/";
}

}  // namespace

std::size_t memory_of(pid_t pid) {
  std::ifstream file(folder_of(pid) + "statm");
  std::size_t size = 0, resident = 0;
  expect(static_cast<bool>(file >> size >> resident), "statm");
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t descriptors_of(pid_t pid) {
  const std::filesystem::directory_iterator entries(folder_of(pid) + "fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

std::chrono::nanoseconds cpu_time_of(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  expect(clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &time) == 0,
         "another process's clock");
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace parley::testing
