#include "bench/scale/own_use.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace parley::bench::scale {
namespace {

constexpr const char* memory_file = "/proc/self/smaps_rollup";

// Pages that no other process has and that lie in no file, and a part of the memory that is shared on
// purpose: half of what two share. What of the latter nobody else maps counts in both.
std::int64_t memory_kib() {
  std::ifstream file(memory_file);
  std::int64_t sum = 0;
  for (std::string line; std::getline(file, line);) {
    long long kib = 0;
    if (std::sscanf(line.c_str(), "Private_Dirty: %lld", &kib) == 1 ||
        std::sscanf(line.c_str(), "Pss_Shmem: %lld", &kib) == 1)
      sum += kib;
  }
  if (sum == 0) throw std::system_error(errno == 0 ? ENOTSUP : errno, std::generic_category(), memory_file);
  return sum;
}

}  // namespace

OwnUse own_use() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  // The one that looks is none of them.
  return {memory_kib(), std::distance(begin(all), end(all)) - 1};
}

}  // namespace parley::bench::scale
