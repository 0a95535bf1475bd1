#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "bench/limits/cell.h"
#include "bench/op.h"
#include "bench/shared_memory.h"
#include "bench/waiting.h"

namespace parley::bench {

inline constexpr std::uint32_t ring_cells = 1024;

// The flags of one direction, in shared memory; zero when new. What different ranks write, or write at
// different times, lies two cache lines apart: cores fetch lines in pairs.
struct Lane {
  alignas(128) Cell single;                       // for traffic with one message on its way
  alignas(128) std::atomic<std::uint64_t> taken;  // pieces or messages that the receiver has counted as read
  alignas(128) std::array<Cell, ring_cells> ring;
};

// What this rank sends into. `sent` counts what the receiver counts in `taken`.
struct Outgoing {
  CellWriter single;
  CellWriter ring;
  const std::atomic<std::uint64_t>& taken;
  std::uint64_t sent = 0;
  std::uint8_t* slots;
  std::uint8_t* arena;

  // A ping-pong has one message on its way, and fewest cache lines with one cell.
  CellWriter& cells(Op op) noexcept { return is_windowed(op) ? ring : single; }
};

// What it receives from: the same memory as the partner's Outgoing. `received` is what `taken` will be told.
struct Incoming {
  CellReader single;
  CellReader ring;
  std::atomic<std::uint64_t>& taken;
  std::uint64_t received = 0;
  const std::uint8_t* slots;
  const std::uint8_t* arena;

  CellReader& cells(Op op) noexcept { return is_windowed(op) ? ring : single; }
};

// One rank's end of the shared memory of a pair: for each direction flags, slots, and an arena with the
// sender's buffer. All loops use the same one, one after the other; each leaves it as quiet as it found it:
// nothing sent that was not received. One thread.
class Channel {
 public:
  // For messages of at most this size.
  static std::size_t memory_bytes(std::size_t most_message_bytes) noexcept;

  // Owns its mapping; borrows `waiting`. Both ends give the same `most_message_bytes`, and one of them leads.
  // `partner_process` is where cross-memory reads read.
  Channel(SharedMemory memory, std::size_t most_message_bytes, bool leads, pid_t partner_process,
          const Waiting& waiting);
  // Its ends point into its mapping.
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  [[nodiscard]] Outgoing& out() noexcept { return out_; }
  [[nodiscard]] Incoming& in() noexcept { return in_; }
  [[nodiscard]] const Waiting& waiting() const noexcept { return waiting_; }
  [[nodiscard]] pid_t partner_process() const noexcept { return partner_process_; }

 private:
  SharedMemory memory_;
  const Waiting& waiting_;
  pid_t partner_process_;
  Outgoing out_;
  Incoming in_;
};

}  // namespace parley::bench
