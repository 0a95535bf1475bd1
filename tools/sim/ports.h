#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tools/sim/lanes.h"
#include "tools/sim/model.h"
#include "tools/sim/network.h"

namespace parley::sim {

// Everything that messages have to share, and when it is free again: each rank's two ports (it sends one
// message at a time and receives one at a time, both at once) and its core, which both use, rails out of
// hosts and into them, uplinks out of racks and into them. Each is done with a message when it is done with
// all that were begun before it, for as long as their bytes need there; a message passes all of them at the
// same time (cut-through). Where several share a place, the last one of them is done as with even shares, and
// the others are earlier.
class Ports {
 public:
  // Of the ranks [0, actors). `slowdown`: how many times as long each is busy; empty: once.
  Ports(const Network& network, const Model& model, std::uint32_t actors, std::span<const float> slowdown);

  struct Times {
    double sent = 0;     // the sender's port is free again
    double arrived = 0;  // all is there
  };
  // REQUIRES: what is now does not lie before the `now` of an earlier call, and the sender's port is free.
  Times pass(double now, std::uint32_t from, std::uint32_t to, Way way, std::uint64_t bytes);

  [[nodiscard]] double slowdown(std::uint32_t actor) const noexcept {
    return slowdown_.empty() ? 1 : static_cast<double>(slowdown_[actor]);
  }

 private:
  const Network network_;
  const Model& model_;
  std::span<const float> slowdown_;
  std::vector<double> receiver_, core_;         // by actor
  std::vector<double> rail_out_, rail_in_;      // by rail
  std::vector<double> uplink_out_, uplink_in_;  // by rack
};

}  // namespace parley::sim
