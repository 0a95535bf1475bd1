#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parley::socket {

// One address of a network interface of this host.
struct InterfaceAddress {
  std::string interface;
  std::string address;  // numeric: "10.0.0.1", "fe80::1%eth0"; empty: the interface has none
  bool up = true;
  bool loopback = false;
  bool running = true;  // the cable is plugged in; the kernel may take a moment to notice
};

// What PARLEY_SOCKET_IFNAME says about interfaces: NCCL's grammar, and networks.
//
//   eth,ib0        interfaces whose names begin so, the first preferred
//   =eth0,eth1     from "=" on, names are compared in full
//   ^docker,lo     from "^" on, what matches is excluded; nothing else in the list: all others are included
//   10.0.0.0/8,fd00::/8,10.1.2.3   addresses in a network, or one address
//
// As in NCCL a sign holds for all that follows it. NCCL allows signs at the beginning only, so a list of its
// own means the same here; "eth,^eth1" includes one thing and excludes another. Thread-safety: immutable.
class InterfaceFilter {
 public:
  // Throws UsageError for an empty entry and a network that is none; the text begins with `source`.
  static InterfaceFilter parse(std::string_view text, std::string_view source);

  // How early in the list stands what includes the address; nothing when it is not included, or excluded.
  [[nodiscard]] std::optional<std::size_t> place_of(const InterfaceAddress& candidate) const;

 private:
  struct Network {
    std::array<unsigned char, 16> bytes{};
    std::size_t size = 0;  // 4 or 16 bytes
    unsigned bits = 0;     // how many of them count
  };
  struct Entry {
    std::string name;
    bool exact = false;
    bool excluded = false;
    std::optional<Network> network;  // then `name` is not looked at
  };
  static std::optional<Network> parse_network(std::string_view text, std::string_view source);
  static bool matches(const Entry& entry, const InterfaceAddress& candidate);

  std::vector<Entry> entries_;
  bool includes_all_ = true;  // nothing but exclusions
};

// The address to listen on: of those that the filter includes on interfaces that are up, the best by, in this
// order: no loopback address; an interface that runs; `route`, the address that packets to the store would
// carry (may be empty); its family, IPv4 if it is empty; no link-local address; the place in the list; the
// order of the interfaces. Nothing when none is included.
std::optional<std::string> choose_address(const InterfaceFilter& filter,
                                          const std::vector<InterfaceAddress>& addresses,
                                          std::string_view route);

// "lo 127.0.0.1 and ::1; eth0 10.0.0.1; eth1 (no address) (down)"
std::string list_interfaces(const std::vector<InterfaceAddress>& addresses);

}  // namespace parley::socket
