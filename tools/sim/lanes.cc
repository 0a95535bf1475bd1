#include "tools/sim/lanes.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace parley::sim {
namespace {

// Actor and sender in one number, with the lane.
using Key = std::pair<std::uint64_t, std::uint32_t>;

Way way_between(const Network& network, std::uint32_t from, std::uint32_t to) noexcept {
  if (network.host(from) == network.host(to)) return Way::near;
  return network.rack(from) == network.rack(to) ? Way::far : Way::uplink;
}

std::uint64_t key(std::uint32_t actor, std::uint32_t sender) noexcept {
  return std::uint64_t{actor} << 32 | sender;
}

}  // namespace

Lanes::Lanes(const Network& network, const Cast& cast, std::span<const Program> programs) {
  first_send_.push_back(0);
  first_receive_.push_back(0);
  std::vector<Key> receives;
  for (std::uint32_t actor = 0; actor < cast.actors(); ++actor) {
    const Program& program = programs[cast.model_of(actor)];
    for (const std::uint32_t from : program.receives_from)
      receives.emplace_back(key(actor, cast.peer(actor, from)), receives.size());
    first_send_.push_back(first_send_.back() + static_cast<std::uint32_t>(program.sends_to.size()));
    first_receive_.push_back(static_cast<std::uint32_t>(receives.size()));
  }
  std::sort(receives.begin(), receives.end());
  routes_.reserve(first_send_.back());
  for (std::uint32_t actor = 0; actor < cast.actors(); ++actor)
    for (const std::uint32_t to : programs[cast.model_of(actor)].sends_to) {
      const std::uint32_t peer = cast.peer(actor, to), taker = cast.stand_in(peer);
      const std::uint64_t wanted = key(taker, cast.seen_from(peer, actor));
      const auto found = std::lower_bound(receives.begin(), receives.end(), Key{wanted, 0});
      if (found == receives.end() || found->first != wanted)
        throw std::logic_error("a message has no receiver: the schedules do not fit together");
      routes_.push_back({taker, found->second, way_between(network, actor, peer)});
    }
}

}  // namespace parley::sim
