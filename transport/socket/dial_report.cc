#include "transport/socket/dial_report.h"

#include <algorithm>
#include <cerrno>

#include "transport/base/log.h"

namespace parley::socket {
namespace {

bool is_refused(const AddressReport& address) {
  return address.error == ECONNREFUSED;
}

// Who connects and then hears nothing has met a host that is there.
bool is_silent(const AddressReport& address) {
  return !address.answered && !address.connected && address.attempts > 0;
}

bool is_elsewhere(const AddressReport& address) {
  return address.error == EHOSTUNREACH || address.error == ENETUNREACH;
}

}  // namespace

std::string list_addresses(std::span<const AddressReport> addresses, bool with_address) {
  std::string text;
  for (const AddressReport& address : addresses) {
    if (!text.empty()) text += "; ";
    if (with_address) text += address.address + ": ";
    text += address.reason;
    if (address.attempts > 1) text += base::concat(", tried ", address.attempts, " times");
  }
  return text;
}

std::string advice_on(std::span<const AddressReport> addresses) {
  std::string text;
  if (std::any_of(addresses.begin(), addresses.end(), is_refused)) {
    text +=
        ". Refused: that host is up, but no process listens there; start the one that should, and check "
        "address and port";
    const bool all_here = std::all_of(addresses.begin(), addresses.end(),
                                      [](const AddressReport& address) { return address.loopback; });
    if (all_here) text += ", for a loopback address is this host itself";
  }
  if (std::any_of(addresses.begin(), addresses.end(), is_silent))
    text +=
        ". Silent: that host is down, the address is wrong, or a firewall drops the packets; let the port "
        "through (PARLEY_PORT_RANGE keeps data ports in a range), or choose another network over there "
        "(PARLEY_SOCKET_IFNAME)";
  if (std::any_of(addresses.begin(), addresses.end(), is_elsewhere))
    text +=
        ". No route: that address is in a network that this host is not in; choose one that both are in over "
        "there (PARLEY_SOCKET_IFNAME or PARLEY_HOST)";
  return text;
}

}  // namespace parley::socket
