#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace parley::launch {

// A launcher's place among those of a job on several hosts.
struct NodePlace {
  int count = 1;
  int number = 0;
  std::string host;  // where node 0 serves the store
  std::uint16_t port = 0;
  std::string secret;                                           // the same on all nodes
  std::chrono::nanoseconds patience = std::chrono::minutes(5);  // with the others, at the start
};

struct HostAndPort {
  std::string host;
  std::uint16_t port = 0;
};

// "node-a:29500", "10.0.0.1:29500", "[fd00::1]:29500", "[fe80::1%eth0]:29500"; nothing when it is none.
std::optional<HostAndPort> parse_rendezvous(std::string_view text);

// The secret of a job on several hosts, and what to tell people about it, if anything.
struct NodeSecret {
  std::string secret;
  std::string remark;
};

// As init() finds one: what the user gave, else the cookie file. The remark tells of a cookie that had to be
// made, for then the other nodes have it only if they share the home folder. Throws SystemError.
NodeSecret find_node_secret();

}  // namespace parley::launch
