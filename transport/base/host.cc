#include "transport/base/host.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

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

std::string process_start(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t name_end = text.rfind(')');  // the command's name may hold anything
  if (name_end == std::string::npos) return {};
  std::istringstream words(text.substr(name_end + 1));
  std::string state, word;
  words >> state;
  if (state == "Z" || state == "X") return {};  // dead, and not yet waited for
  for (int i = 1; i < 20; ++i) words >> word;   // the 20th word behind the name
  return word;
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
