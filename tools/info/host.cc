// What does not depend on the job: the build, the host, its limits and its addresses.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "tools/info/report.h"
#include "transport/base/host.h"
#include "transport/base/log.h"
#include "transport/socket/crypto.h"
#include "transport/socket/handshake_messages.h"

namespace parley::info {
namespace {

Json limit_of(rlim_t value) {
  return value == RLIM_INFINITY ? Json("unlimited") : Json(value);
}

std::string text_of(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.sa_family == AF_INET) {
    const auto& ip = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &ip.sin_addr, text.data(), text.size());
  } else {
    const auto& ip = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &ip.sin6_addr, text.data(), text.size());
  }
  return text.data();
}

}  // namespace

Json describe_build() {
  const std::string sanitizers = PARLEY_INFO_SANITIZERS;
  return {{"version", PARLEY_VERSION},
          {"compiler", PARLEY_INFO_COMPILER},
          {"build_type", PARLEY_INFO_BUILD_TYPE},
          {"sanitizers", sanitizers.empty() ? "none" : sanitizers},
          {"handshake_version", socket::protocol_version},
          {"openssl", socket::proofs_available() ? "yes" : "no: loopback only, nothing is proved"}};
}

Json describe_host() {
  utsname system{};
  uname(&system);
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  return {{"name", base::host_name()},
          {"id", base::host_id()},
          {"system", base::concat(system.sysname, " ", system.release, " ", system.machine)},
          {"process", getpid()},
          {"cores_of_this_process", base::usable_cores().size()},
          {"cores_of_the_host", std::thread::hardware_concurrency()},
          {"descriptors_at_most", limit_of(descriptors.rlim_cur)},
          {"descriptors_hard_limit", limit_of(descriptors.rlim_max)}};
}

Json describe_interfaces() {
  Json interfaces = Json::array();
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return interfaces;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    if (one->ifa_addr->sa_family != AF_INET && one->ifa_addr->sa_family != AF_INET6) continue;
    interfaces.push_back({{"interface", one->ifa_name},
                          {"address", text_of(*one->ifa_addr)},
                          {"up", (one->ifa_flags & IFF_UP) != 0},
                          {"loopback", (one->ifa_flags & IFF_LOOPBACK) != 0}});
  }
  freeifaddrs(first);
  return interfaces;
}

}  // namespace parley::info
