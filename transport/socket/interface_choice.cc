#include "transport/socket/interface_choice.h"

#include <arpa/inet.h>
#include <parley/error.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "transport/base/log.h"

namespace parley::socket {
namespace {

struct Bytes {
  std::array<unsigned char, 16> bytes{};
  std::size_t size = 0;  // 0: no address
};

// A numeric address without its scope.
Bytes bytes_of(std::string_view text) {
  const std::string address(text.substr(0, text.find('%')));
  Bytes parsed;
  if (inet_pton(AF_INET, address.c_str(), parsed.bytes.data()) == 1)
    parsed.size = 4;
  else if (inet_pton(AF_INET6, address.c_str(), parsed.bytes.data()) == 1)
    parsed.size = 16;
  return parsed;
}

bool begins_alike(const unsigned char* a, const unsigned char* b, unsigned bits) {
  const unsigned whole = bits / 8;
  if (!std::equal(a, a + whole, b)) return false;
  const unsigned rest = bits % 8;
  return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

bool is_link_local(const Bytes& address) {
  if (address.size == 4) return address.bytes[0] == 169 && address.bytes[1] == 254;
  return address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0U) == 0x80;
}

}  // namespace

std::optional<InterfaceFilter::Network> InterfaceFilter::parse_network(std::string_view text,
                                                                       std::string_view source) {
  const std::size_t slash = text.find('/');
  const Bytes address = bytes_of(text.substr(0, slash));
  const bool is_network = slash != std::string_view::npos;
  if (address.size == 0 && !is_network) return std::nullopt;
  Network network{address.bytes, address.size, static_cast<unsigned>(address.size * 8)};
  if (is_network) {
    const std::string_view digits = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), network.bits);
    const bool is_number = error == std::errc{} && end == digits.data() + digits.size();
    if (address.size == 0 || !is_number || network.bits > address.size * 8)
      throw UsageError(base::concat(source, ": '", text, "' is no network: write 10.0.0.0/8 or fd00::/8"));
  }
  return network;
}

InterfaceFilter InterfaceFilter::parse(std::string_view text, std::string_view source) {
  InterfaceFilter filter;
  bool exact = false;
  bool excluded = false;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
    for (; !word.empty() && (word.front() == '^' || word.front() == '='); word.remove_prefix(1))
      (word.front() == '^' ? excluded : exact) = true;
    if (word.empty())
      throw UsageError(base::concat(source, " has an empty entry: write eth,ib or =eth0 or ^docker,lo"));
    filter.entries_.push_back({std::string(word), exact, excluded, parse_network(word, source)});
    filter.includes_all_ = filter.includes_all_ && excluded;
  }
  return filter;
}

bool InterfaceFilter::matches(const Entry& entry, const InterfaceAddress& candidate) {
  if (entry.network) {
    const Bytes address = bytes_of(candidate.address);
    return address.size == entry.network->size &&
           begins_alike(address.bytes.data(), entry.network->bytes.data(), entry.network->bits);
  }
  return entry.exact ? candidate.interface == entry.name : candidate.interface.starts_with(entry.name);
}

std::optional<std::size_t> InterfaceFilter::place_of(const InterfaceAddress& candidate) const {
  std::optional<std::size_t> place;
  if (includes_all_) place = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!matches(entries_[i], candidate)) continue;
    if (entries_[i].excluded) return std::nullopt;
    if (!place) place = i;
  }
  return place;
}

std::optional<std::string> choose_address(const InterfaceFilter& filter,
                                          const std::vector<InterfaceAddress>& addresses,
                                          std::string_view route) {
  const std::size_t family = route.empty() ? 4 : bytes_of(route).size;
  using Rank = std::tuple<bool, bool, bool, bool, bool, std::size_t>;  // the smallest is the best
  std::optional<Rank> best;
  std::optional<std::string> chosen;
  for (const InterfaceAddress& candidate : addresses) {
    const Bytes address = bytes_of(candidate.address);
    const auto place = filter.place_of(candidate);
    if (!candidate.up || address.size == 0 || !place) continue;
    const Rank rank(candidate.loopback, !candidate.running, candidate.address != route,
                    address.size != family, is_link_local(address), *place);
    if (best && *best <= rank) continue;
    best = rank;
    chosen = candidate.address;
  }
  return chosen;
}

std::string list_interfaces(const std::vector<InterfaceAddress>& addresses) {
  std::vector<std::string> seen;
  std::string text;
  for (const InterfaceAddress& first : addresses) {
    if (std::find(seen.begin(), seen.end(), first.interface) != seen.end()) continue;
    seen.push_back(first.interface);
    std::string own;
    for (const InterfaceAddress& other : addresses)
      if (other.interface == first.interface && !other.address.empty())
        own += (own.empty() ? " " : " and ") + other.address;
    if (own.empty()) own = " (no address)";
    text += (text.empty() ? "" : "; ") + first.interface + own +
            (!first.up       ? " (down)"
             : first.running ? ""
                             : " (no carrier)");
  }
  return text.empty() ? "no interface" : text;
}

}  // namespace parley::socket
