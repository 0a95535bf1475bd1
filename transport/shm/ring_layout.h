#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/base/copy_bulk.h"
#include "transport/base/copy_few.h"
#include "transport/base/non_temporal.h"
#include "transport/interface/packet.h"

// A ring: one writer and one reader, each in a process of its own, with memory between them that both map.
// A record is a packet header and a chunk of bytes. Each record takes one cell, a cache line of its own; a
// chunk of more than inline_bytes lies in the payload ring beside the cells, or in a window: a larger payload
// ring that is lent to the ring while there is much to send. So the reader of a small record touches one line
// that the writer wrote, and the writer touches a line of the reader's only when the ring looks full.
//
// Invariants:
//  1. The writer alone writes cells and payload, the reader alone writes ReaderCounts. What one side
//     reads of the other's is never an index: each side knows from its own counts where the next cell and
//     chunk are.
//  2. Record number s (from 0) lies in cell s % cells, with the lap first_lap + s / cells. Until that lap
//     is stored there, the cell has the lap before it. (Laps wrap: only these two are ever told apart.)
//  3. The word with the lap is stored with `release` after the record, and loaded with `acquire` before
//     it: who sees the lap sees the whole record. Kind and length travel in the same word and are read
//     once, with it.
//  4. Each Area is a payload ring of its own. Where a chunk lies follows from the lengths of the chunks
//  before
//     it in its area (place_chunk): at a multiple of 64, in one piece; what is too short for it at the end of
//     the area is skipped. The area travels in the word, too.
//  5. The reader's counts only grow, and never pass what was written. They are stored with `release`
//     after the records that they cover were read for the last time, and loaded with `acquire` before a
//     cell or payload is written again: nothing is overwritten that may still be read.
//  6. The reader hands back (stores its counts) when a quarter of the cells or of an area was released since
//     it last did so; then its owner wakes the writer, if it sleeps. It may hand back in between
//     (hand_back()), which wakes nobody, and which a writer on its way to sleep may not see.
//  7. Nobody waits for what is kept back. Let the writer be refused while the reader goes on: in the end the
//     reader has released all that was written, and has handed back all but less than a quarter of the cells
//     and of each area. The reserve is at most a quarter of the cells, so that one is free for data. A chunk
//     takes at most a quarter of its area, and what is skipped for it is shorter than it: both together are
//     less than half, so that it fits wherever the area stands.
//  8. For records of Share::control there are reserved_cells() more than for others, and they need no
//     payload ring: data cannot shut them out. Order is kept all the same.
//  9. The other side may be hostile and write anything, at any time. The reader believes nothing but its
//     own copy of word and header, and looks at no chunk that is longer than largest_chunk(); the writer
//     checks the counts. A wrong lap, length or count ends in "broken"; no access leaves the areas.
// 10. A window is taken from the ring only while that is drained: every record was released, and nobody reads
//     the window any more. A record of kind `moved` tells the reader of the next one, before the first chunk
//     in it. Positions go on counting; where in the new window they begin does not matter.
namespace parley::transport::shm {

// Sizes of a ring, powers of two.
struct RingShape {
  std::uint32_t cells = 0;          // records on their way
  std::uint32_t payload_bytes = 0;  // for chunks that do not fit into a cell

  friend constexpr bool operator==(const RingShape&, const RingShape&) = default;
};

inline constexpr std::uint32_t inline_bytes = 24;  // of a chunk, in the cell itself
inline constexpr std::size_t ring_alignment = 128;
inline constexpr RingShape smallest_ring{4, 256};
inline constexpr RingShape largest_ring{1U << 16, 1U << 23};

// Of a payload ring or a window.
[[nodiscard]] constexpr bool is_valid_area(std::uint32_t bytes) noexcept {
  return std::has_single_bit(bytes) && bytes >= smallest_ring.payload_bytes &&
         bytes <= largest_ring.payload_bytes;
}

[[nodiscard]] constexpr bool is_valid(RingShape shape) noexcept {
  return std::has_single_bit(shape.cells) && shape.cells >= smallest_ring.cells &&
         shape.cells <= largest_ring.cells && is_valid_area(shape.payload_bytes);
}

// The longest chunk: a quarter of its area, for invariant 7.
[[nodiscard]] constexpr std::uint32_t largest_chunk(std::uint32_t area_bytes) noexcept {
  return area_bytes / 4;
}
[[nodiscard]] constexpr std::uint32_t largest_chunk(RingShape shape) noexcept {
  return largest_chunk(shape.payload_bytes);
}

// Cells that only Share::control may take.
[[nodiscard]] constexpr std::uint32_t reserved_cells(RingShape shape) noexcept {
  return shape.cells < 8 ? 1 : shape.cells / 8;
}

// What a record is for; the ring gives it no meaning and passes any value on.
enum class RecordKind : std::uint8_t {
  packet = 1,        // a packet's header and the first chunk of its payload
  continuation = 2,  // the next chunk of the same packet
  moved = 3,         // the next chunks of Area::window lie in another window; id: which
};

// Where a chunk lies that is too long for its cell.
enum class Area : std::uint8_t {
  own = 0,     // in the payload ring beside the cells
  window = 1,  // in the window that the ring has been lent, if it has
};
inline constexpr std::size_t areas = 2;

// Which cells a record may take.
enum class Share : std::uint8_t {
  data = 0,     // all but the reserve
  control = 1,  // all; chunks of at most inline_bytes only
};

// The reader's line. Two of them, because some processors fetch lines in pairs.
struct alignas(ring_alignment) ReaderCounts {
  std::uint64_t cells;  // released since the beginning
  std::array<std::uint64_t, areas>
      payload_bytes;  // positions in each area's stream of chunks, with skipped bytes
};
static_assert(sizeof(ReaderCounts) == ring_alignment);

// One cache line.
struct alignas(64) Cell {
  std::uint64_t word;  // see below; the only part that both sides may touch at the same time
  PacketHeader header;
  std::array<std::byte, inline_bytes> chunk;
};
static_assert(sizeof(Cell) == 64);

// Cell::word: lap (32 bits), kind (8), area (1), length of the chunk (23).
[[nodiscard]] constexpr std::uint64_t pack_word(std::uint32_t lap, RecordKind kind, std::uint32_t length,
                                                Area area = Area::own) noexcept {
  return lap | (std::uint64_t{static_cast<std::uint8_t>(kind)} << 32) |
         (std::uint64_t{static_cast<std::uint8_t>(area)} << 40) | (std::uint64_t{length} << 41);
}
[[nodiscard]] constexpr std::uint32_t lap_of(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word);
}
[[nodiscard]] constexpr RecordKind kind_of(std::uint64_t word) noexcept {
  return static_cast<RecordKind>(static_cast<std::uint8_t>(word >> 32));
}
[[nodiscard]] constexpr Area area_of(std::uint64_t word) noexcept {
  return static_cast<Area>(static_cast<std::uint8_t>(word >> 40) & 1U);
}
[[nodiscard]] constexpr std::uint32_t length_of(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word >> 41);
}

// Of the memory that a ring takes: counts, cells, payload, one behind the other.
[[nodiscard]] constexpr std::size_t ring_bytes(RingShape shape) noexcept {
  return sizeof(ReaderCounts) + std::size_t{shape.cells} * sizeof(Cell) + shape.payload_bytes;
}

// The same memory as its parts. REQUIRES: `memory` is aligned to ring_alignment, ring_bytes(shape) long and,
// for a new ring, zero.
struct RingParts {
  RingParts(std::byte* memory, RingShape shape) noexcept
      : counts(reinterpret_cast<ReaderCounts*>(memory)),
        cells(reinterpret_cast<Cell*>(memory + sizeof(ReaderCounts))),
        payload(memory + sizeof(ReaderCounts) + std::size_t{shape.cells} * sizeof(Cell)) {}

  ReaderCounts* counts;
  Cell* cells;
  std::byte* payload;
};

// Where a chunk lies, as positions in the endless stream of chunks; modulo the size of the area they are
// offsets.
struct ChunkPlace {
  std::uint64_t begin;
  std::uint64_t end;
};

// The place of the next chunk when the chunks before it end at `position`. REQUIRES: bytes <= largest_chunk.
[[nodiscard]] constexpr ChunkPlace place_chunk(std::uint64_t position, std::uint32_t bytes,
                                               std::uint32_t area_bytes) noexcept {
  const std::uint32_t taken = (bytes + 63U) & ~63U;
  const std::uint32_t left = area_bytes - (static_cast<std::uint32_t>(position) & (area_bytes - 1));
  const std::uint64_t begin = taken <= left ? position : position + left;
  return {begin, begin + taken};
}

// How writer and reader touch the ring. The model test puts simulated memory in its place and runs the same
// code.
struct SharedMemory {
  static std::uint64_t load(const std::uint64_t& word, std::memory_order order) noexcept {
    return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(word)).load(order);
  }
  static void store(std::uint64_t& word, std::uint64_t value, std::memory_order order) noexcept {
    std::atomic_ref<std::uint64_t>(word).store(value, order);
  }
  // Plain bytes; the words above order them.
  static void write(std::byte* to, const void* from, std::size_t bytes) noexcept {
    base::copy_bulk(to, from, bytes);
  }
  // As write().
  static void write_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    base::copy_past_caches(to, from, bytes);
  }
  static void write_header(PacketHeader& to, const PacketHeader& from) noexcept;
  // At most inline_bytes.
  static void write_inline(std::byte* to, std::span<const std::byte> from) noexcept {
    static_assert(inline_bytes <= base::few_bytes);
    base::copy_few(to, from.data(), from.size());
  }
  static void read(void* to, const std::byte* from, std::size_t bytes) noexcept {
    base::copy_bulk(to, from, bytes);
    // For the compiler: what was copied is not read again in the ring, where it may have changed.
    std::atomic_signal_fence(std::memory_order_acq_rel);
  }
};
static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);

// Field by field, and the compiler cannot put fields together: who sends has just made the header so, and a
// load wider than those stores would wait until they have left this core's store buffer, behind the cell
// before this.
inline void SharedMemory::write_header(PacketHeader& to, const PacketHeader& from) noexcept {
  const auto copy = []<typename T>(T& field, const T& value) {
    // relaxed: as plain bytes.
    std::atomic_ref<T>(field).store(value, std::memory_order_relaxed);
  };
  copy(to.kind, from.kind);
  copy(to.type_code, from.type_code);
  copy(to.credits, from.credits);
  copy(to.context, from.context);
  copy(to.tag, from.tag);
  copy(to.payload_bytes, from.payload_bytes);
  copy(to.id, from.id);
  copy(to.message_bytes, from.message_bytes);
}

}  // namespace parley::transport::shm
