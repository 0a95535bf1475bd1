#include "transport/base/host.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>

namespace parley::base {

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
  return name.data();
}

std::string host_id() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat network {};
  if (stat("/proc/self/ns/net", &network) == 0) boot += "/net:" + std::to_string(network.st_ino);
  return boot;
}

std::vector<std::uint16_t> usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<std::uint16_t> cores;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) {
    for (std::uint16_t core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &mask)) cores.push_back(core);
  }
  if (cores.empty()) cores.push_back(0);  // more cores than the mask holds: take it that we have one
  return cores;
}

}  // namespace parley::base
