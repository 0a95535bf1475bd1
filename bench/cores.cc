#include "bench/cores.h"

#include <sched.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace parley::bench {

std::vector<int> usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof(mask), &mask) != 0) {
    throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
  }
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &mask)) cores.push_back(core);
  }
  return cores;
}

int core_for(int local_rank, const std::vector<int>& cores) {
  return cores[static_cast<std::size_t>(local_rank) % cores.size()];
}

void pin_to(int core) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(static_cast<std::size_t>(core), &mask);
  if (::sched_setaffinity(0, sizeof(mask), &mask) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "sched_setaffinity to core " + std::to_string(core));
  }
}

std::string describe_pinning(int ranks, const std::vector<int>& cores) {
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank > 0) text += ", ";
    text += "rank " + std::to_string(rank) + " on core " + std::to_string(core_for(rank, cores));
  }
  return text;
}

}  // namespace parley::bench
