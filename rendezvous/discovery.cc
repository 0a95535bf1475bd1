#include "rendezvous/discovery.h"

#include <parley/error.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <vector>

#include "transport/base/env.h"
#include "transport/base/log.h"

namespace parley::rendezvous {
namespace {

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void check(const Place& place, std::string_view source) {
  if (place.world_size < 1)
    throw UsageError(base::concat(source, ": world size must be at least 1, not ", place.world_size));
  if (place.rank < 0 || place.rank >= place.world_size)
    throw UsageError(base::concat(source, ": rank ", place.rank, " is out of range: valid ranks are 0 to ",
                                  place.world_size - 1));
}

std::uint16_t to_port(std::int64_t port, std::string_view source) {
  if (port < 1 || port > 65535)
    throw UsageError(base::concat(source, ": port must be 1 to 65535, not ", port));
  return static_cast<std::uint16_t>(port);
}

Place from_environment(int rank, int world_size) {
  const auto address = base::env_string("MASTER_ADDR");
  const auto port = base::env_integer("MASTER_PORT");
  const auto env_rank = base::env_integer("RANK");
  const auto env_size = base::env_integer("WORLD_SIZE");
  Place place;
  place.source = "env://";
  if (!address && !port && !env_rank && !env_size && rank < 0 && world_size < 0) {
    place.alone = true;
    return place;
  }
  std::vector<std::string> missing;
  if (!address) missing.emplace_back("MASTER_ADDR");
  if (!port) missing.emplace_back("MASTER_PORT");
  if (!env_rank && rank < 0) missing.emplace_back("RANK");
  if (!env_size && world_size < 0) missing.emplace_back("WORLD_SIZE");
  if (!missing.empty())
    throw UsageError(base::concat("env:// needs MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE; not set: ",
                                  join(missing), " (parley-run sets them all)"));
  place.rank = rank >= 0 ? rank : static_cast<int>(*env_rank);
  place.world_size = world_size >= 0 ? world_size : static_cast<int>(*env_size);
  const auto local_rank = base::env_integer("LOCAL_RANK");
  if (local_rank && (*local_rank < 0 || *local_rank >= place.world_size))
    throw UsageError(base::concat("LOCAL_RANK must be 0 to ", place.world_size - 1, ", not ", *local_rank));
  place.local_rank = static_cast<int>(local_rank.value_or(-1));
  place.store_host = *address;
  place.store_port = to_port(*port, "MASTER_PORT");
  place.serves_store = place.rank == 0 && base::env_string("PARLEY_STORE").value_or("") != "launcher";
  check(place, "env://");
  return place;
}

// tcp://host:port?rank=R&world_size=N, in any order; [::1]:port for IPv6.
Place from_url(std::string_view url, int rank, int world_size) {
  Place place;
  place.source = url;
  std::string_view rest = url.substr(std::string_view("tcp://").size());
  const std::size_t question = rest.find('?');
  std::string_view query = question == std::string_view::npos ? "" : rest.substr(question + 1);
  rest = rest.substr(0, question);
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || rest.back() == ']')
    throw UsageError(
        base::concat(url, ": the port is missing; expected tcp://host:port?rank=R&world_size=N"));
  std::string_view host = rest.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  place.store_host = host;
  const auto port = parse_integer(rest.substr(colon + 1));
  if (!port) throw UsageError(base::concat(url, ": '", rest.substr(colon + 1), "' is no port"));
  place.store_port = to_port(*port, url);

  std::int64_t url_rank = rank;
  std::int64_t url_size = world_size;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query = end == std::string_view::npos ? "" : query.substr(end + 1);
    const std::size_t equals = pair.find('=');
    const std::string_view name = pair.substr(0, equals);
    const auto value =
        equals == std::string_view::npos ? std::nullopt : parse_integer(pair.substr(equals + 1));
    if (!value) throw UsageError(base::concat(url, ": parameter '", pair, "' is no number"));
    if (name == "rank") {
      if (rank < 0) url_rank = *value;
    } else if (name == "world_size") {
      if (world_size < 0) url_size = *value;
    } else {
      throw UsageError(base::concat(url, ": unknown parameter '", name, "'; known: rank, world_size"));
    }
  }
  std::vector<std::string> missing;
  if (url_rank < 0) missing.emplace_back("rank");
  if (url_size < 0) missing.emplace_back("world_size");
  if (!missing.empty()) throw UsageError(base::concat(url, ": missing parameters: ", join(missing)));
  place.rank = static_cast<int>(url_rank);
  place.world_size = static_cast<int>(url_size);
  place.serves_store = place.rank == 0;
  check(place, url);
  return place;
}

}  // namespace

Place discover(std::string_view method, int rank, int world_size) {
  if (method == "env://") return from_environment(rank, world_size);
  if (method.starts_with("tcp://")) return from_url(method, rank, world_size);
  throw UsageError(
      base::concat("unknown init method '", method, "'; known: env://, tcp://host:port?rank=R&world_size=N"));
}

}  // namespace parley::rendezvous
