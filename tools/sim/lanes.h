#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tools/sim/cast.h"
#include "tools/sim/network.h"
#include "tools/sim/program.h"

namespace parley::sim {

// What lies between two ranks.
enum class Way : std::uint8_t { near, far, uplink };  // uplink: between racks

// Where the messages of one send lane of an actor go.
struct Route {
  std::uint32_t to = 0;    // an actor
  std::uint32_t lane = 0;  // number of the receive lane, among all
  Way way = Way::near;
};

// Joins the send lanes of all actors with the receive lanes that take their messages. Memory: 12 bytes for
// each lane of an actor, and as much again while it is made.
class Lanes {
 public:
  // `programs`: one for each model of the cast, whose peers are the models'. Throws std::logic_error where a
  // message has no receiver: the schedules do not fit together.
  Lanes(const Network& network, const Cast& cast, std::span<const Program> programs);

  [[nodiscard]] const Route& send(std::uint32_t actor, std::uint32_t lane) const noexcept {
    return routes_[first_send_[actor] + lane];
  }
  [[nodiscard]] std::uint32_t receive(std::uint32_t actor, std::uint32_t lane) const noexcept {
    return first_receive_[actor] + lane;
  }
  [[nodiscard]] std::uint32_t receive_count() const noexcept { return first_receive_.back(); }

 private:
  std::vector<Route> routes_;
  std::vector<std::uint32_t> first_send_;     // of each actor, and the end
  std::vector<std::uint32_t> first_receive_;  // the same
};

}  // namespace parley::sim
