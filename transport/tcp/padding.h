#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport/interface/packet.h"

namespace parley::transport {

// Bytes in front of a large packet that say nothing: with them its payload lies better in the kernel's
// memory.
//
// The kernel copies with `rep movsb`, which is slow where the destination lies 1 to 63 bytes above the
// source, modulo a page: a third slower in the cache, and half as fast where other cores have had the lines
// (seen on AMD; of Intel's cores glibc says the same, AVOID_SHORT_DISTANCE_REP_MOVSB). When all has been read
// that was sent, what is sent next begins a page of the kernel's.

// The kind of a packet that is none: a header and `payload_bytes` that the receiver throws away.
inline constexpr PacketKind padding_kind{};
inline constexpr std::uint32_t most_padding_payload_bytes = sizeof(PacketHeader);

// How many bytes, a header at least, to write in front of a payload that would begin `position` bytes behind
// the first of those that are written with it; 0: it lies well.
[[nodiscard]] constexpr std::size_t padding_bytes(std::size_t position, std::uintptr_t payload) noexcept {
  constexpr std::size_t page_bytes = 4096;
  constexpr std::size_t far_bytes = 64;
  const std::size_t distance = (position - payload) % page_bytes;
  if (distance == 0 || distance >= far_bytes) return 0;
  return std::max(far_bytes - distance, sizeof(PacketHeader));
}

}  // namespace parley::transport
