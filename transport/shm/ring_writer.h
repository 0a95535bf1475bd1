#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/interface/packet.h"
#include "transport/shm/ring_layout.h"

namespace parley::transport::shm {

// The writing side of a ring (ring_layout.h has the rules). Borrows the memory. Thread-safety: none; one
// writer for a ring, beside one reader. The hot path is inline: a small record is a handful of stores to one
// line.
template <typename Memory = SharedMemory>
class BasicRingWriter {
 public:
  // REQUIRES: is_valid(shape); `memory` as for RingParts. `first_lap`: the lap before it stands in all cells;
  // not 1 in tests only.
  BasicRingWriter(std::byte* memory, RingShape shape, std::uint32_t first_lap = 1) noexcept
      : parts_(memory, shape),
        limits_{shape.cells - reserved_cells(shape), shape.cells},
        mask_(shape.cells - 1),
        payload_bytes_(shape.payload_bytes),
        reserve_(reserved_cells(shape)),
        lap_(first_lap) {}

  // Puts a record into the ring, for the reader to see at once. False: nothing was written, there is no room
  // for it now, or the ring is broken. REQUIRES: chunk.size() <= largest_chunk(); <= inline_bytes for
  // Share::control.
  [[nodiscard]] bool try_write(RecordKind kind, const PacketHeader& header, std::span<const std::byte> chunk,
                               Share share) noexcept {
    if (written_ >= limit(share) && !has_cell(share)) [[unlikely]]
      return false;
    Cell& cell = parts_.cells[written_ & mask_];
    const auto length = static_cast<std::uint32_t>(chunk.size());
    if (length <= inline_bytes)
      Memory::write_inline(cell.chunk.data(), chunk);
    else if (!write_chunk(chunk.data(), length))
      return false;
    Memory::write_header(cell.header, header);
    // release: whoever sees the lap sees the record (invariant 3).
    Memory::store(cell.word, pack_word(lap_, kind, length), std::memory_order_release);
    ++written_;
    lap_ += (written_ & mask_) == 0 ? 1 : 0;
    fetch_for_write(&parts_.cells[(written_ + cells_ahead) & mask_]);
    return true;
  }

  // Whether try_write() would take the largest chunk now. False for a broken ring.
  [[nodiscard]] bool has_room() noexcept {
    const ChunkPlace place = place_chunk(position_, largest_chunk(), payload_bytes_);
    if (written_ >= limit(Share::data) || place.end - released_bytes_ > payload_bytes_) refresh();
    return written_ < limit(Share::data) && place.end - released_bytes_ <= payload_bytes_;
  }

  [[nodiscard]] std::uint32_t largest_chunk() const noexcept {
    return shm::largest_chunk({mask_ + 1, payload_bytes_});
  }

  // Whether the reader has released every record. Exact if the reader hands back when it finds the ring
  // empty.
  [[nodiscard]] bool drained() const noexcept {
    // acquire: who then takes the ring's memory away does so after the reader's last look at it.
    return Memory::load(parts_.counts->cells, std::memory_order_acquire) == written_;
  }

  // The reader's counts were impossible: more than was written, or less than before. Found when room is
  // looked for; from then on nothing is written.
  [[nodiscard]] bool broken() const noexcept { return limit(Share::control) == 0; }

 private:
  [[nodiscard]] std::uint64_t limit(Share share) const noexcept {
    return limits_[static_cast<std::size_t>(share)];
  }

  // Looks whether the reader has released a cell meanwhile.
  [[gnu::noinline]] bool has_cell(Share share) noexcept {
    refresh();
    return written_ < limit(share);
  }

  bool write_chunk(const std::byte* chunk, std::uint32_t length) noexcept {
    const ChunkPlace place = place_chunk(position_, length, payload_bytes_);
    if (place.end - released_bytes_ > payload_bytes_) {
      refresh();
      if (broken() || place.end - released_bytes_ > payload_bytes_) return false;
    }
    Memory::write(parts_.payload + (place.begin & (payload_bytes_ - 1)), chunk, length);
    position_ = place.end;
    return true;
  }

  // Takes the reader's counts, if they can be true.
  void refresh() noexcept {
    if (broken()) return;
    // acquire: what is written into this room comes after the reader's last look at it (invariant 5).
    const std::uint64_t cells = Memory::load(parts_.counts->cells, std::memory_order_acquire);
    const std::uint64_t bytes = Memory::load(parts_.counts->payload_bytes, std::memory_order_acquire);
    if (cells < released_cells_ || cells > written_ || bytes < released_bytes_ || bytes > position_) {
      limits_ = {0, 0};
      return;
    }
    released_cells_ = cells;
    released_bytes_ = bytes;
    const std::uint64_t limit = cells + mask_ + 1;
    limits_ = {limit - reserve_, limit};
  }

  // Has this core own a line before it is written. The engine's lock, which comes after each record, waits
  // for all stores to be done, and one to a line that the reader's core still owns takes as long as a
  // message.
  static void fetch_for_write(const Cell* cell) noexcept {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*cell));  // __builtin_prefetch() fetches for reading on old targets
#else
    __builtin_prefetch(cell, 1);
#endif
  }

  // Not the next one, at which the reader may be looking again and again.
  static constexpr std::uint32_t cells_ahead = 8;

  RingParts parts_;
  std::uint64_t written_ = 0;            // records
  std::array<std::uint64_t, 2> limits_;  // up to which number of records each Share may write; 0: broken
  std::uint64_t position_ = 0;           // end of the last chunk
  std::uint64_t released_cells_ = 0;     // the reader's counts, as last seen
  std::uint64_t released_bytes_ = 0;
  std::uint32_t mask_;  // cells - 1
  std::uint32_t payload_bytes_;
  std::uint32_t reserve_;
  std::uint32_t lap_;  // of the next record
};

using RingWriter = BasicRingWriter<>;

}  // namespace parley::transport::shm
