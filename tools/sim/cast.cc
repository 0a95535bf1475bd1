#include "tools/sim/cast.h"

#include <algorithm>
#include <bit>

namespace parley::sim {
namespace {

using Kind = schedule::Symmetry::Kind;

// How many ranks are looked at, and by how many schedules they act.
bool can_fold(const Network& network, const schedule::Symmetry& symmetry, std::uint32_t actors) noexcept {
  if (symmetry.kind == Kind::none || network.ranks % actors != 0 || actors % symmetry.unit != 0) return false;
  return symmetry.kind == Kind::rotation || std::has_single_bit(actors / symmetry.unit);
}

}  // namespace

Cast::Cast(const Network& network, const schedule::Symmetry& symmetry) noexcept : Cast(network.ranks) {
  const std::uint32_t actors = std::max(network.period(), symmetry.unit);
  if (!can_fold(network, symmetry, actors)) return;
  actors_ = actors;
  models_ = symmetry.unit;
  symmetry_ = symmetry;
}

std::uint32_t Cast::model_rank(std::uint32_t model) const noexcept {
  if (symmetry_.kind == Kind::none) return model;
  // One from the middle: the first rank may have less to copy than all others.
  return schedule::moved(symmetry_, size_, model, size_ / symmetry_.unit / 2);
}

std::uint32_t Cast::peer(std::uint32_t actor, std::uint32_t peer) const noexcept {
  if (symmetry_.kind == Kind::none) return peer;
  return schedule::moved(symmetry_, size_, peer,
                         schedule::distance_between(symmetry_, size_, model_rank(model_of(actor)), actor));
}

std::uint32_t Cast::seen_from(std::uint32_t peer, std::uint32_t actor) const noexcept {
  if (symmetry_.kind == Kind::none) return actor;
  return schedule::moved(symmetry_, size_, actor,
                         schedule::distance_between(symmetry_, size_, peer, stand_in(peer)));
}

}  // namespace parley::sim
