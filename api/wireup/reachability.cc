#include "api/wireup/reachability.h"

#include <parley/error.h>

#include <algorithm>

#include "transport/base/log.h"
#include "transport/socket/own_address.h"
#include "transport/socket/route.h"

namespace parley::wireup {
namespace {

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address.starts_with("[::1]") || address == "::1";
}

std::string advice_on_loopback(const std::string& host, const StoreOrigin& origin) {
  switch (origin.kind) {
    case StoreOrigin::Kind::file:
      return base::concat("With a store in a file the ranks listen on loopback: set PARLEY_HOST or ",
                          "PARLEY_SOCKET_IFNAME on ", host, " and wherever else ranks run");
    case StoreOrigin::Kind::of_program:
      return base::concat("Set PARLEY_HOST, PARLEY_SOCKET_IFNAME or InitOptions::host on ", host);
    case StoreOrigin::Kind::network: break;
  }
  return base::concat("On ", host, " the name of the store's host may resolve to 127.0.1.1, as Debian's ",
                      "/etc/hosts has it for a host's own name: set ", origin.setting,
                      " to an address that all hosts reach, or PARLEY_SOCKET_IFNAME or PARLEY_HOST on ",
                      host);
}

}  // namespace

// A place says in words alone which of its sources it took.
StoreOrigin origin_of_store(const rendezvous::Place& place, bool of_program) {
  using Kind = StoreOrigin::Kind;
  if (of_program) return {Kind::of_program, {}};
  if (place.store_host.empty()) return {Kind::file, {}};
  const auto said = [&](std::string_view words) { return place.source.find(words) != std::string::npos; };
  if (place.source.starts_with("tcp://")) return {Kind::network, "the host in init()'s tcp://"};
  if (said(", served by parley-run")) return {Kind::network, "parley-run's --rendezvous"};
  if (said("; the store by MASTER_ADDR=")) return {Kind::network, "MASTER_ADDR"};
  return {Kind::network, "the host in PARLEY_STORE"};  // it also overrides what a launcher said
}

std::optional<Unreachable> find_unreachable(const std::vector<rendezvous::AddressCard>& cards,
                                            const StoreOrigin& origin) {
  const auto hidden = std::find_if(cards.begin(), cards.end(),
                                   [](const auto& card) { return is_loopback(card.tcp_address); });
  if (hidden == cards.end()) return std::nullopt;
  const auto other = std::find_if(cards.begin(), cards.end(),
                                  [&](const auto& card) { return card.host_id != hidden->host_id; });
  if (other == cards.end()) return std::nullopt;
  const auto rank = hidden - cards.begin();
  return Unreachable{
      static_cast<int>(rank),
      base::concat("rank ", rank, " (", hidden->host, ", pid ", hidden->pid, ") listens on ",
                   hidden->tcp_address, ", a loopback address that rank ", other - cards.begin(), " on ",
                   other->host, " cannot reach. ", advice_on_loopback(hidden->host, origin))};
}

std::string advice_on_missing(const std::string& store_host, std::string_view setting) {
  // Given as a loopback address it was meant for one host.
  if (store_host == "localhost" || is_loopback(store_host)) return {};
  try {
    const std::string own = socket::address_towards(store_host);
    if (!is_loopback(own)) return {};
    return base::concat("; the store listens on a loopback address, since '", store_host, "' is ", own,
                        " here: other hosts find it only when ", setting,
                        " is another address of this host, which has ",
                        socket::list_interfaces(socket::network_addresses()));
  } catch (const Error&) {
    return {};
  }
}

}  // namespace parley::wireup
