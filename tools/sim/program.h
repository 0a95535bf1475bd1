#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "api/schedule/schedule.h"
#include "tools/sim/model.h"

namespace parley::sim {

// A schedule as far as time goes: what it moves where in memory is gone, a step has 32 bytes.
struct Program {
  enum class Kind : std::uint8_t { send, receive, local, publish, await };
  struct Step {
    double amount = 0;       // send: bytes; local: nanoseconds; publish, await: the mark
    std::uint32_t with = 0;  // send, receive: a lane; await: a rank, or schedule::everyone
    std::uint32_t blockers = 0;
    std::uint32_t next_in_lane = schedule::no_step;
    std::uint32_t first_successor = 0;
    std::uint32_t last_successor = 0;  // the one after
    Kind kind = Kind::local;
  };
  std::vector<Step> steps;
  std::vector<std::uint32_t> successors;
  std::vector<std::uint32_t> sends_to;       // the peer of each lane
  std::vector<std::uint32_t> receives_from;  // the same
};
static_assert(sizeof(Program::Step) == 32);

// How elements are priced.
struct Pricing {
  const Model& model;
  const SharedPiece& shared;  // of the call's size
  std::uint64_t element_bytes = 4;
  bool lends = false;  // buffers that may be lent are
};

Program compile(const schedule::Schedule& schedule, std::uint32_t rank, const Pricing& pricing);

}  // namespace parley::sim
