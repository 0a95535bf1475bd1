#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bench/waiting.h"

namespace parley::bench {

// One cache line with a message, or with the news that one lies elsewhere: flag, length and data travel
// together. Zero in new memory: empty.
struct alignas(64) Cell {
  static constexpr std::size_t inline_bytes = 48;

  std::atomic<std::uint32_t> number;  // of the message in it, counted from 1; any other number: not yet here
  std::uint32_t bytes;                // of the message, wherever it lies
  std::uint64_t address;              // of the message in the sender's own memory, for cross-memory reads
  std::array<std::uint8_t, inline_bytes> payload;
};
static_assert(sizeof(Cell) == 64);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "a lock would not work between processes");

// The two ends of a row of cells that are used in turn, between one writing and one reading process.
//
// 1. Message n lies in cell (n - 1) mod count. Each end counts for itself; nothing but cells is shared.
// 2. Only the writer writes a cell; it stores `number` last (release), and the reader reads the rest after
//    it has seen the number (acquire).
// 3. There is no other bookkeeping, so the writer must know from elsewhere that a cell is free: an answer has
//    come that the partner sent after it had read everything before, or a count of its own (slots.h).

class CellWriter {
 public:
  // Borrows the cells. REQUIRES: count is a power of two.
  CellWriter(Cell* cells, std::uint32_t count) noexcept : cells_(cells), mask_(count - 1) {}

  // The next message's cell; fill it in, then publish().
  [[nodiscard]] Cell& claim() noexcept { return cells_[sent_ & mask_]; }
  void publish() noexcept {
    Cell& cell = claim();
    ++sent_;
    // release: invariant 2.
    cell.number.store(sent_, std::memory_order_release);
  }
  // The whole message lies in the cell. REQUIRES: bytes <= Cell::inline_bytes.
  void send(const std::uint8_t* data, std::uint32_t bytes) noexcept;

 private:
  Cell* cells_;
  std::uint32_t mask_;
  std::uint32_t sent_ = 0;
};

class CellReader {
 public:
  CellReader(const Cell* cells, std::uint32_t count) noexcept : cells_(cells), mask_(count - 1) {}

  // Whether the next message is there.
  [[nodiscard]] bool has_next() const noexcept {
    // acquire: invariant 2.
    return cells_[taken_ & mask_].number.load(std::memory_order_acquire) == taken_ + 1;
  }
  // Waits for the next message; its cell stays readable until the writer uses it again.
  const Cell& take(const Waiting& waiting) {
    const Cell& cell = cells_[taken_ & mask_];
    ++taken_;
    // acquire: invariant 2.
    waiting.until([&] { return cell.number.load(std::memory_order_acquire) == taken_; });
    return cell;
  }
  // Takes a message that lies in its cell.
  void receive(std::uint8_t* data, const Waiting& waiting);

 private:
  const Cell* cells_;
  std::uint32_t mask_;
  std::uint32_t taken_ = 0;
};

namespace detail {

// The usual length is known to the compiler: a call would take longer than the copy.
inline void copy_inline(std::uint8_t* to, const std::uint8_t* from, std::uint32_t bytes) noexcept {
  if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace detail

inline void CellWriter::send(const std::uint8_t* data, std::uint32_t bytes) noexcept {
  Cell& cell = claim();
  cell.bytes = bytes;
  detail::copy_inline(cell.payload.data(), data, bytes);
  publish();
}

inline void CellReader::receive(std::uint8_t* data, const Waiting& waiting) {
  const Cell& cell = take(waiting);
  detail::copy_inline(data, cell.payload.data(), cell.bytes);
}

}  // namespace parley::bench
