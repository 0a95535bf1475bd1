#pragma once

#include <cstddef>

#include "bench/limits/channel.h"
#include "bench/pair.h"
#include "bench/waiting.h"
#include "bench/world.h"

namespace parley::bench {

// Called by all ranks; the world carries process and descriptor from one end of a pair to the
// other. Throws the system's or the measured library's error.
Channel open_channel(World& world, const Pair& pair, std::size_t most_message_bytes, const Waiting& waiting);

// Called by all ranks: each tries to read a word of its partner's memory. 0 when all may, else the error
// number that one of them got; the same on all ranks.
int agree_on_cross_memory(World& world, const Pair& pair, pid_t partner_process);

}  // namespace parley::bench
