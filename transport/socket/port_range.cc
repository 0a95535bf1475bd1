#include "transport/socket/port_range.h"

#include <parley/error.h>

#include <charconv>

#include "transport/base/env.h"
#include "transport/base/log.h"

namespace parley::socket {
namespace {

constexpr const char* variable = "PARLEY_PORT_RANGE";

// 0 when it is no port.
std::uint16_t parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() ? port : std::uint16_t{0};
}

}  // namespace

std::optional<PortRange> parse_port_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const PortRange range{parse_port(text.substr(0, dash)), parse_port(text.substr(dash + 1))};
  if (range.first == 0 || range.last < range.first) return std::nullopt;
  return range;
}

std::optional<PortRange> port_range() {
  const auto text = base::env_string(variable);
  if (!text) return std::nullopt;
  const auto range = parse_port_range(*text);
  if (!range)
    throw UsageError(base::concat(variable, "=", *text,
                                  " is no range of ports from 1 to 65535: write 5000-5099, the lower first"));
  return range;
}

std::vector<std::uint16_t> ports_from(const PortRange& range, std::size_t start) {
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 0; i < range.count(); ++i)
    ports.push_back(static_cast<std::uint16_t>(range.first + (start + i) % range.count()));
  return ports;
}

}  // namespace parley::socket
