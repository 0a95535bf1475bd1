#pragma once

#include <cstdint>

#include "api/schedule/symmetry.h"
#include "tools/sim/network.h"

namespace parley::sim {

// Which ranks are looked at, and for whom they stand. Where an algorithm moves the same for all units of
// ranks (schedule::Symmetry) and the network looks the same from each period of it, the ranks of the first
// period do what all others do at the same time; they are the actors, and what one of them sends to a rank
// elsewhere is taken by that rank's stand-in. Else every rank is an actor.
//
// An actor acts by the schedule of its model, a rank of the same place in its unit: all peers of that are
// moved as the actor was.
class Cast {
 public:
  // Everyone.
  explicit Cast(std::uint32_t size) noexcept : size_(size), actors_(size), models_(size) {}
  // As few as the two allow.
  Cast(const Network& network, const schedule::Symmetry& symmetry) noexcept;

  [[nodiscard]] bool is_whole() const noexcept { return actors_ == size_ && models_ == size_; }
  [[nodiscard]] std::uint32_t actors() const noexcept { return actors_; }
  [[nodiscard]] std::uint32_t stand_in(std::uint32_t rank) const noexcept { return rank % actors_; }

  // Schedules that are needed, which actor goes by which, and whose they are.
  [[nodiscard]] std::uint32_t models() const noexcept { return models_; }
  [[nodiscard]] std::uint32_t model_of(std::uint32_t actor) const noexcept { return actor % models_; }
  [[nodiscard]] std::uint32_t model_rank(std::uint32_t model) const noexcept;

  // The peer of an actor where its model has `peer`.
  [[nodiscard]] std::uint32_t peer(std::uint32_t actor, std::uint32_t peer) const noexcept;
  // As whom the stand-in of `peer` sees the actor that sends to `peer`.
  [[nodiscard]] std::uint32_t seen_from(std::uint32_t peer, std::uint32_t actor) const noexcept;

 private:
  std::uint32_t size_;
  std::uint32_t actors_;
  std::uint32_t models_;
  schedule::Symmetry symmetry_ = {};
};

}  // namespace parley::sim
