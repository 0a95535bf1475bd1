#include "transport/base/host.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string_view>

#include "transport/base/unique_fd.h"

namespace parley::base {
namespace {

constexpr std::string_view before_network = "/net:";  // in a host_id()

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
  return name.data();
}

std::string host_id() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat network {};
  if (stat("/proc/self/ns/net", &network) == 0)
    boot += std::string(before_network) + std::to_string(network.st_ino);
  return boot;
}

bool is_other_network_of_one_host(std::string_view one, std::string_view other) {
  const std::size_t end = one.find(before_network);
  const bool is_known = end != std::string_view::npos && end != 0;  // /proc may hide the boot
  return is_known && one != other && other.find(before_network) == end &&
         other.starts_with(one.substr(0, end));
}

ProcessSight look_at_process(std::int64_t pid) {
  using State = ProcessSight::State;
  const UniqueFd file(open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  const ssize_t bytes = file ? read(file.get(), text.data(), text.size()) : -1;
  if (bytes < 0) {
    // /proc may hide what is there; a process that ended after open() is ESRCH.
    const bool is_absent = errno == ENOENT || errno == ESRCH;
    const bool has_ended = is_absent && kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
    return {has_ended ? State::ended : State::unknown, {}};
  }
  const std::string_view all(text.data(), static_cast<std::size_t>(bytes));
  const std::size_t name_end = all.rfind(')');  // the command's name may hold anything
  if (name_end == std::string_view::npos) return {};
  std::istringstream words{std::string(all.substr(name_end + 1))};
  std::string state, threads, start, word;
  words >> state;
  for (int i = 1; i < 17; ++i) words >> word;
  words >> threads >> word >> start;
  if (start.empty()) return {};
  // Dead, and not yet waited for; or only its first thread has ended.
  const bool is_dead = state == "X" || (state == "Z" && (threads == "0" || threads == "1"));
  if (is_dead) return {State::ended, {}};
  return {State::there, start};
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
