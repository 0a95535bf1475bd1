#include "bench/limits/slots.h"

#include <algorithm>
#include <bit>

namespace parley::bench {
namespace {

constexpr std::size_t smallest_slot = 8 * 1024;
constexpr std::size_t largest_slot = 256 * 1024;

// Of a message that is copied in and out at once: with n pieces the second copy ends 1/n after the first.
constexpr std::size_t pieces_of_a_ping = 8;

}  // namespace

Slots reused_slot(std::size_t message_bytes) noexcept {
  return {message_bytes, 1};
}

Slots rotating_slots(Op op, std::size_t message_bytes) noexcept {
  const std::size_t piece = is_windowed(op) ? message_bytes : message_bytes / pieces_of_a_ping;
  const std::size_t bytes = std::clamp(std::bit_ceil(piece), smallest_slot, largest_slot);
  return {bytes, static_cast<std::uint32_t>(rotation_bytes / bytes)};
}

}  // namespace parley::bench
