#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "transport/cuda/api.h"
#include "transport/cuda/event_pool.h"

namespace parley::cuda {

// A piece of pinned host memory. Whoever took it may read and write `data`.
struct PinnedBlock {
  std::byte* data = nullptr;
  std::size_t bytes = 0;  // one of PinnedPool::sizes

 private:
  friend class PinnedPool;
  Event after = nullptr;        // while it is given back and in flight: the end of the last copy
  PinnedBlock* next = nullptr;  // while it is given back: in its list
};

// Pinned host memory for staging, for the streams of one device: allocated when first needed, up to a bound,
// and kept. A block that a copy still reads or writes may be given back at once; it is handed out again after
// that. The device is entered for take() and give_back_after(), and when the pool dies: then it waits for the
// copies. All blocks must have been given back. Thread-safety: none (the engine's lock).
class PinnedPool {
 public:
  static constexpr std::size_t small_bytes = std::size_t{4} << 10;
  static constexpr std::size_t medium_bytes = std::size_t{64} << 10;
  static constexpr std::size_t large_bytes = std::size_t{1} << 20;
  static constexpr std::array sizes{small_bytes, medium_bytes, large_bytes};
  static constexpr std::size_t default_bound = std::size_t{64} << 20;
  static constexpr std::size_t times_if_pressing = 16;

  // `bound`: bytes of pinned memory at most, but for what is pressing. `api` and `events`, which are the same
  // device's, must outlive this.
  PinnedPool(Api& api, EventPool& events, std::size_t bound = default_bound) noexcept
      : api_(api), events_(events), bound_(bound) {}
  ~PinnedPool();
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  // A block of at least `bytes` bytes, at most large_bytes: of the smallest size that does, or where there is
  // none and no room for one, a larger one. Null: all are in use or in flight and the bound is reached, or
  // the driver gives no more; try again later. Who cannot, and would have to wait for the device instead,
  // says that it is pressing: the bound is so many times as large then. For each size it asks the device 16
  // times at most what has ended, a stream after the other, and goes on with other streams the next time.
  enum class Need : std::uint8_t { can_wait, is_pressing };
  [[nodiscard]] PinnedBlock* take(std::size_t bytes, Need need = Need::can_wait) noexcept;
  // Whether there are blocks of such a size at all, so that one may be given back.
  [[nodiscard]] bool has_blocks_for(std::size_t bytes) const noexcept {
    return std::any_of(kinds_.begin() + kind_for(bytes), kinds_.end(),
                       [](const Kind& kind) { return kind.count != 0; });
  }

  // Nothing is in flight to or from it.
  void give_back(PinnedBlock* block) noexcept;
  // It is free after what `stream` has been told to do up to now. Where that cannot be noted it is not handed
  // out again, for nobody shall wait for the stream. A failure is the device's.
  Code give_back_after(PinnedBlock* block, Stream stream) noexcept;

  [[nodiscard]] std::size_t reserved_bytes() const noexcept { return allocations_.size() * large_bytes; }

 private:
  // Blocks in flight of one stream, which ends its copies in the order in which they were given back.
  struct Flight {
    std::uint64_t stream = 0;  // see Api::stream_id()
    PinnedBlock* oldest = nullptr;
    PinnedBlock* latest = nullptr;
    std::size_t count = 0;  // 0: it may be another stream's
  };
  // Of one size.
  struct Kind {
    std::size_t count = 0;        // of all blocks
    PinnedBlock* free = nullptr;  // given back last first
    std::vector<Flight> flights;
    std::size_t next_flight = 0;  // to be looked at
  };
  [[nodiscard]] static constexpr std::size_t kind_for(std::size_t bytes) noexcept {
    return bytes <= small_bytes ? 0 : bytes <= medium_bytes ? 1 : 2;
  }
  Kind& kind_of(const PinnedBlock& block) noexcept { return kinds_[kind_for(block.bytes)]; }
  // One allocation of large_bytes, as one block or as many smaller ones. False: there is no more.
  bool grow(Kind& kind, std::size_t block_bytes, std::size_t bound) noexcept;
  static void push_free(Kind& kind, PinnedBlock& block) noexcept;
  Code note_end(PinnedBlock& block, Stream stream) noexcept;
  // Null: no memory.
  static Flight* flight_of(Kind& kind, std::uint64_t stream) noexcept;
  static void push(Flight& flight, PinnedBlock& block) noexcept;
  static PinnedBlock& pop(Flight& flight) noexcept;
  void look_at_flights(Kind& kind) noexcept;
  bool look_at(Flight& flight, Kind& kind, std::size_t& looks) noexcept;

  Api& api_;
  EventPool& events_;
  const std::size_t bound_;
  std::vector<std::byte*> allocations_;   // of large_bytes each
  std::deque<PinnedBlock> blocks_;        // all there are; a deque, for they are pointed to
  std::array<Kind, sizes.size()> kinds_;  // as `sizes`
};

}  // namespace parley::cuda
