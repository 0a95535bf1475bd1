#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "bench/limits/channel.h"
#include "bench/pair.h"
#include "bench/waiting.h"
#include "bench/world.h"

namespace parley::bench {

// Called by all ranks; the world carries process and descriptor from one end of a pair to the
// other. Throws the system's or the measured library's error.
Channel open_channel(World& world, const Pair& pair, std::size_t most_message_bytes, const Waiting& waiting);

// A word at a known address of each process, for the tries below.
extern const std::uint64_t known_word;

// The error number of a cross-memory read of that word at `address` of another process, 0 when it works.
int try_to_read(pid_t process, std::uint64_t address);

// Called by all ranks: the first error number of any of them that is not 0, at all of them. No process goes
// away meanwhile.
int agree_on_error(World& world, int mine);

// Called by all ranks: each tries to read a word of its partner's memory. 0 when all may, else the error
// number that one of them got; the same on all ranks.
int agree_on_cross_memory(World& world, const Pair& pair, pid_t partner_process);

}  // namespace parley::bench
