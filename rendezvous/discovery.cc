#include "rendezvous/discovery.h"

#include <parley/error.h>

#include <charconv>
#include <limits>
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

// A rank and a world size as they were given: integers of 64 bits, so that what is out of range is seen and
// not cut to something that is not.
struct Numbers {
  std::int64_t rank = -1;
  std::int64_t world_size = -1;
};

// Sets the place's rank and world size, checked.
void place_among(Place& place, const Numbers& numbers, std::string_view source) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (numbers.world_size < 1 || numbers.world_size > most)
    throw UsageError(base::concat(source, ": world size must be 1 to ", most, ", not ", numbers.world_size));
  if (numbers.rank < 0 || numbers.rank >= numbers.world_size)
    throw UsageError(base::concat(source, ": rank ", numbers.rank, " is out of range: valid ranks are 0 to ",
                                  numbers.world_size - 1));
  place.rank = static_cast<int>(numbers.rank);
  place.world_size = static_cast<int>(numbers.world_size);
}

// `source` says where the text is from: a variable with its value, or a URL.
std::uint16_t parse_port(std::string_view text, std::string_view source) {
  const auto port = parse_integer(text);
  if (!port || *port < 1 || *port > 65535)
    throw UsageError(base::concat(source, ": a port is a number from 1 to 65535, not '", text, "'"));
  return static_cast<std::uint16_t>(*port);
}

int read_local_rank(int world_size) {
  const auto local_rank = base::env_integer("LOCAL_RANK");
  if (local_rank && (*local_rank < 0 || *local_rank >= world_size))
    throw UsageError(base::concat("LOCAL_RANK must be 0 to ", world_size - 1, ", not ", *local_rank));
  return static_cast<int>(local_rank.value_or(-1));
}

Place from_environment(int rank, int world_size) {
  const auto address = base::env_string("MASTER_ADDR");
  const auto port = base::env_string("MASTER_PORT");
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
  place_among(place, {rank >= 0 ? rank : *env_rank, world_size >= 0 ? world_size : *env_size}, "env://");
  place.local_rank = read_local_rank(place.world_size);
  place.store_host = *address;
  place.store_port = parse_port(*port, "MASTER_PORT");
  place.serves_store = place.rank == 0 && base::env_string("PARLEY_STORE").value_or("") != "launcher";
  return place;
}

// Sets what "host:port" says; [::1]:port for IPv6.
void read_authority(Place& place, std::string_view text, std::string_view url) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || text.back() == ']')
    throw UsageError(
        base::concat(url, ": the port is missing; expected tcp://host:port?rank=R&world_size=N"));
  std::string_view host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  place.store_host = host;
  place.store_port = parse_port(text.substr(colon + 1), url);
}

// What "rank=R&world_size=N" says, in any order; -1 for what it does not.
Numbers parse_query(std::string_view query, std::string_view url) {
  Numbers numbers;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query = end == std::string_view::npos ? "" : query.substr(end + 1);
    const std::size_t equals = pair.find('=');
    const std::string_view name = pair.substr(0, equals);
    if (name != "rank" && name != "world_size")
      throw UsageError(base::concat(url, ": unknown parameter '", name, "'; known: rank, world_size"));
    const auto value =
        equals == std::string_view::npos ? std::nullopt : parse_integer(pair.substr(equals + 1));
    if (!value || *value < 0)
      throw UsageError(base::concat(url, ": parameter '", pair, "' is no number of 0 or more"));
    (name == "rank" ? numbers.rank : numbers.world_size) = *value;
  }
  return numbers;
}

// tcp://host:port?rank=R&world_size=N
Place from_url(std::string_view url, int rank, int world_size) {
  Place place;
  place.source = url;
  const std::string_view rest = url.substr(std::string_view("tcp://").size());
  const std::size_t question = rest.find('?');
  read_authority(place, rest.substr(0, question), url);
  Numbers numbers = parse_query(question == std::string_view::npos ? "" : rest.substr(question + 1), url);
  if (rank >= 0) numbers.rank = rank;
  if (world_size >= 0) numbers.world_size = world_size;
  std::vector<std::string> missing;
  if (numbers.rank < 0) missing.emplace_back("rank");
  if (numbers.world_size < 0) missing.emplace_back("world_size");
  if (!missing.empty()) throw UsageError(base::concat(url, ": missing parameters: ", join(missing)));
  place_among(place, numbers, url);
  place.serves_store = place.rank == 0;
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
