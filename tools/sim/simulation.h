#pragma once

#include <cstdint>
#include <span>

#include "tools/sim/cast.h"
#include "tools/sim/model.h"
#include "tools/sim/network.h"
#include "tools/sim/program.h"

namespace parley::sim {

// When the last actor is done, in nanoseconds, if all begin at 0. Runs the programs by the rules of
// schedule.h: messages are taken as they come (nobody waits for a receive to be posted), each rank sends one
// at a time and receives one at a time, in the order in which they are ready, and does one local step at a
// time beside them. Sharing is as ports.h says. Events of the same time happen in one fixed order: the same
// input, the same bits. Memory: 8 bytes for each step of each actor, 12 for each lane, and the programs.
//
// `programs`: one for each model of the cast. `mark_ns`: as in SharedPiece. `slowdown`: of each actor, or
// empty. Throws std::logic_error if the programs do not come to an end.
double simulate(const Network& network, const Model& model, const Cast& cast,
                std::span<const Program> programs, double mark_ns, std::span<const float> slowdown = {});

}  // namespace parley::sim
