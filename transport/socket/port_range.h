#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace parley::socket {

// Ports that a firewall lets through, both ends included.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  [[nodiscard]] std::size_t count() const noexcept { return std::size_t{last} - first + 1; }
};

// "5000-5099"; nothing when it is no range of ports from 1 to 65535 that goes up.
std::optional<PortRange> parse_port_range(std::string_view text);

// PARLEY_PORT_RANGE; nothing when it is not set. Throws UsageError when it is no range.
std::optional<PortRange> port_range();

// All ports of the range, from one of them on and around. Whoever starts at a random one rarely meets another
// process that looks for a port at the same moment.
std::vector<std::uint16_t> ports_from(const PortRange& range, std::size_t start);

}  // namespace parley::socket
