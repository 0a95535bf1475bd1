#include "transport/socket/own_address.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <parley/error.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <system_error>

#include "transport/base/env.h"
#include "transport/base/log.h"
#include "transport/socket/route.h"

namespace parley::socket {
namespace {

constexpr const char* host_variable = "PARLEY_HOST";
constexpr const char* interface_variable = "PARLEY_SOCKET_IFNAME";

// Empty when the address is none of IP. getnameinfo() adds the scope where there is one.
std::string numeric(const sockaddr* address) {
  if (address == nullptr || (address->sa_family != AF_INET && address->sa_family != AF_INET6)) return {};
  const socklen_t size = address->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  std::array<char, NI_MAXHOST> text{};
  const int failed = getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return failed != 0 ? std::string() : text.data();
}

// A loopback address is never what other hosts reach, but without other interfaces there may be no route.
std::string route_or_nothing(const std::string& towards) {
  if (towards.empty()) return {};
  try {
    return address_towards(towards);
  } catch (const SystemError&) {
    return {};
  }
}

std::string by_interface(const std::string& wanted, const std::string& towards) {
  const auto filter = InterfaceFilter::parse(wanted, base::concat(interface_variable, "=", wanted));
  const auto addresses = network_addresses();
  if (auto chosen = choose_address(filter, addresses, route_or_nothing(towards))) return *chosen;
  throw SystemError(base::concat(interface_variable, "=", wanted,
                                 " includes no address of an interface that is up; this host has ",
                                 list_interfaces(addresses)));
}

}  // namespace

std::vector<InterfaceAddress> network_addresses() {
  ifaddrs* head = nullptr;
  if (getifaddrs(&head) != 0)
    throw SystemError(
        base::concat("cannot list the network interfaces: ", std::system_category().message(errno)));
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(head, freeifaddrs);
  std::vector<InterfaceAddress> addresses;
  std::vector<InterfaceAddress> without;
  for (const ifaddrs* entry = head; entry != nullptr; entry = entry->ifa_next) {
    const auto has = [flags = entry->ifa_flags](unsigned flag) { return (flags & flag) != 0; };
    InterfaceAddress found{entry->ifa_name, numeric(entry->ifa_addr), has(IFF_UP), has(IFF_LOOPBACK),
                           has(IFF_RUNNING)};
    (found.address.empty() ? without : addresses).push_back(std::move(found));
  }
  // Each interface has an entry of its own beside those of its addresses; it says more only if there are
  // none.
  for (InterfaceAddress& bare : without) {
    const auto same = [&](const InterfaceAddress& other) { return other.interface == bare.interface; };
    if (std::none_of(addresses.begin(), addresses.end(), same)) addresses.push_back(std::move(bare));
  }
  return addresses;
}

std::string own_address(const std::string& towards) {
  if (auto host = base::env_string(host_variable)) return *host;
  if (const auto wanted = base::env_string(interface_variable)) return by_interface(*wanted, towards);
  return address_towards(towards);
}

bool knows_own_address() {
  return base::env_string(host_variable) || base::env_string(interface_variable);
}

std::string with_own_scope(const std::string& address, const std::string& own) {
  const std::size_t begin = address.find('%');
  const std::size_t end = address.find(']', begin == std::string::npos ? 0 : begin);
  const std::size_t own_scope = own.find('%');
  if (begin == std::string::npos || end == std::string::npos || own_scope == std::string::npos)
    return address;
  const std::string scope = own.substr(own_scope, own.find(']', own_scope) - own_scope);
  return address.substr(0, begin) + scope + address.substr(end);
}

}  // namespace parley::socket
