#include "bench/limits/channel.h"

#include <algorithm>
#include <new>
#include <utility>

#include "bench/buffers.h"
#include "bench/limits/slots.h"

namespace parley::bench {
namespace {

constexpr std::size_t page = 4096;

constexpr std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + page - 1) / page * page;
}

// One direction: its flags, then its slots, then its arena, each from the start of a page.
struct Layout {
  std::size_t slots;
  std::size_t arena;
  std::size_t end;
};

Layout layout_for(std::size_t most_message_bytes) noexcept {
  Layout layout{};
  layout.slots = whole_pages(sizeof(Lane));
  layout.arena = layout.slots + whole_pages(std::max(rotation_bytes, most_message_bytes));
  layout.end = layout.arena + whole_pages(Buffers::room_for(most_message_bytes));
  return layout;
}

// The leader sends through the first half of the memory.
std::uint8_t* half(const SharedMemory& memory, const Layout& layout, bool first) noexcept {
  return static_cast<std::uint8_t*>(memory.data()) + (first ? 0 : layout.end);
}

Lane& lane_at(std::uint8_t* memory) noexcept {
  return *std::launder(reinterpret_cast<Lane*>(memory));
}

Outgoing outgoing(std::uint8_t* memory, const Layout& layout) noexcept {
  Lane& lane = lane_at(memory);
  return {.single = CellWriter(&lane.single, 1),
          .ring = CellWriter(lane.ring.data(), ring_cells),
          .taken = lane.taken,
          .slots = memory + layout.slots,
          .arena = memory + layout.arena};
}

Incoming incoming(std::uint8_t* memory, const Layout& layout) noexcept {
  Lane& lane = lane_at(memory);
  return {.single = CellReader(&lane.single, 1),
          .ring = CellReader(lane.ring.data(), ring_cells),
          .taken = lane.taken,
          .slots = memory + layout.slots,
          .arena = memory + layout.arena};
}

}  // namespace

std::size_t Channel::memory_bytes(std::size_t most_message_bytes) noexcept {
  return 2 * layout_for(most_message_bytes).end;
}

Channel::Channel(SharedMemory memory, std::size_t most_message_bytes, bool leads, pid_t partner_process,
                 const Waiting& waiting)
    : memory_(std::move(memory)),
      waiting_(waiting),
      partner_process_(partner_process),
      out_(outgoing(half(memory_, layout_for(most_message_bytes), leads), layout_for(most_message_bytes))),
      in_(incoming(half(memory_, layout_for(most_message_bytes), !leads), layout_for(most_message_bytes))) {}

}  // namespace parley::bench
