#include "rendezvous/place_url.h"

#include <parley/error.h>

#include <charconv>
#include <optional>

#include "transport/base/log.h"

namespace parley::rendezvous {
namespace {

constexpr std::string_view tcp = "tcp://";
constexpr std::string_view file = "file://";

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Sets what "host:port" says; [::1]:port for IPv6.
void read_authority(StoreUrl& url, std::string_view text, std::string_view source) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || text.back() == ']')
    throw UsageError(base::concat(source, ": the port is missing; expected tcp://host:port"));
  url.host = without_brackets(text.substr(0, colon));
  if (url.host.empty())
    throw UsageError(base::concat(source, ": the host is missing; expected tcp://host:port"));
  url.port = parse_port(text.substr(colon + 1), source);
}

// What "rank=R&world_size=N" says, in any order; -1 for what it does not.
Numbers parse_query(std::string_view query, std::string_view source) {
  Numbers numbers;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query = end == std::string_view::npos ? "" : query.substr(end + 1);
    const std::size_t equals = pair.find('=');
    const std::string_view name = pair.substr(0, equals);
    if (name != "rank" && name != "world_size")
      throw UsageError(base::concat(source, ": unknown parameter '", name, "'; known: rank, world_size"));
    const auto value =
        equals == std::string_view::npos ? std::nullopt : parse_integer(pair.substr(equals + 1));
    if (!value || *value < 0)
      throw UsageError(base::concat(source, ": parameter '", pair, "' is no number of 0 or more"));
    (name == "rank" ? numbers.rank : numbers.world_size) = *value;
  }
  return numbers;
}

}  // namespace

bool is_store_url(std::string_view text) {
  return text.starts_with(tcp) || text.starts_with(file);
}

std::string_view without_brackets(std::string_view host) {
  const bool has_them = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  return has_them ? host.substr(1, host.size() - 2) : host;
}

std::uint16_t parse_port(std::string_view text, std::string_view source) {
  const auto port = parse_integer(text);
  if (!port || *port < 1 || *port > 65535)
    throw UsageError(base::concat(source, ": a port is a number from 1 to 65535, not '", text, "'"));
  return static_cast<std::uint16_t>(*port);
}

StoreUrl parse_store_url(std::string_view text, std::string_view source) {
  StoreUrl url;
  const bool is_file = text.starts_with(file);
  const std::string_view rest = text.substr(is_file ? file.size() : tcp.size());
  const std::size_t question = rest.find('?');
  const std::string_view where = rest.substr(0, question);
  if (!is_file) {
    read_authority(url, where, source);
  } else if (where.size() < 2 || where.front() != '/' || where.back() == '/' ||
             where.find('\0') != std::string_view::npos) {
    throw UsageError(base::concat(source, ": expected file:///path with the absolute path of a file"));
  } else {
    url.path = where;
  }
  if (question != std::string_view::npos) url.numbers = parse_query(rest.substr(question + 1), source);
  return url;
}

}  // namespace parley::rendezvous
