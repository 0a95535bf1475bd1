#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/op.h"

namespace parley::bench {

// How the memory between a sender's and a receiver's copy is divided.
struct Slots {
  std::size_t bytes = 0;    // of one slot: a longer message goes through several, piece after piece
  std::uint32_t count = 0;  // they are used in turn
};

// The rotating slots of one direction lie in this much memory: twice what a core's second-level cache holds,
// or more, so that a slot has left the reader's cache when it is written again. Rewriting lines that the
// other core has just read is the slow part of a copy through memory.
inline constexpr std::size_t rotation_bytes = std::size_t{4} << 20;

// One slot for whole messages of this size, used again and again.
Slots reused_slot(std::size_t message_bytes) noexcept;

// Slots of 8 to 256 KiB that rotate over `rotation_bytes`. A ping-pong has a message in several slots, so
// that both cores copy at once; windows have a message in each until it is too large.
Slots rotating_slots(Op op, std::size_t message_bytes) noexcept;

}  // namespace parley::bench
