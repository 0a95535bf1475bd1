#include "tests/multiprocess/support/shared_memory.h"

#include <algorithm>
#include <fstream>
#include <ios>
#include <sstream>
#include <string>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {

std::size_t shared_memory_of_the_machine() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (std::size_t kib = 0; file >> name >> kib; std::getline(file, unit))
    if (name == "Shmem:") return kib * 1024;
  throw Unexpected("no Shmem in /proc/meminfo");
}

std::map<std::uint64_t, std::size_t> segments_mapped_by(pid_t pid) {
  std::map<std::uint64_t, std::size_t> segments;
  std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(file, line);) {
    if (line.find("/memfd:parley") == std::string::npos) continue;
    std::istringstream words(line);
    std::uint64_t begin = 0, end = 0, inode = 0;
    char dash = 0;
    std::string rights, offset, device;
    words >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> std::dec >> inode;
    segments[inode] += end - begin;
  }
  return segments;
}

std::size_t segments_mapped_by(pid_t pid, std::size_t bytes) {
  const auto segments = segments_mapped_by(pid);
  return static_cast<std::size_t>(
      std::count_if(segments.begin(), segments.end(), [&](const auto& one) { return one.second == bytes; }));
}

}  // namespace parley::testing
