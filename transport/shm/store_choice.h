#pragma once

#include <chrono>
#include <cstdint>

#include "transport/base/non_temporal.h"

namespace parley::transport::shm {

// How a writer stores chunks in memory that the reader's core has read before: through the caches, or past
// them. Through the caches each line is taken from the reader's core first. That costs 2 to 6 ns a line where
// both share a cache, and the reader then finds the line there; it costs 9 to 30 where they do not, and then
// the way over memory is the faster one for both. Nobody tells where the cores are, and they move; so the
// writer times some of its chunks. Pure: no clock. Thread-safety: none.
class StoreChoice {
 public:
  enum class Way : std::uint16_t {
    cached,        // plain stores
    cached_timed,  // the same, timed to their end: tell note() how long they took
    past_caches,
  };

  // What is shorter is always cached: reading it from memory takes longer than its lines cost.
  static constexpr std::uint32_t least_bytes = 1024;

  // For the next chunk of at least least_bytes.
  [[nodiscard]] Way next() noexcept {
    if (!base::has_copy_past_caches) return Way::cached;
    if (--until_timed_ == 0) return Way::cached_timed;
    return usual_;
  }

  [[nodiscard]] bool goes_past_caches() const noexcept { return usual_ == Way::past_caches; }

  void note(std::chrono::nanoseconds took, std::uint32_t bytes) noexcept {
    const bool is_slow = took.count() > slow_ns + std::int64_t{slow_ns_per_kib} * bytes / 1024;
    const Way better = is_slow ? Way::past_caches : Way::cached;
    if (better == usual_) {
      doubts_ = 0;
    } else if (++doubts_ == needed_doubts) {
      usual_ = better;
      doubts_ = 0;
    }
    if (doubts_ != 0)
      until_timed_ = 1;
    else
      until_timed_ = usual_ == Way::past_caches ? chunks_per_trial : chunks_per_timing;
  }

  // 7.5 ns a line, 8.5 GB/s, and what the clock and the end of the stores take.
  static constexpr int slow_ns_per_kib = 120;
  static constexpr int slow_ns = 100;
  // A clock is read twice, in 50 ns.
  static constexpr std::uint32_t chunks_per_timing = 32;
  // The slow way may take four times as long.
  static constexpr std::uint32_t chunks_per_trial = 128;
  // In a row: one chunk may have met an interrupt, or a page for the first time.
  static constexpr std::uint16_t needed_doubts = 3;

 private:
  std::uint32_t until_timed_ = chunks_per_timing;
  std::uint16_t doubts_ = 0;  // chunks in a row that spoke for the other way
  Way usual_ = Way::cached;   // never the timed one
};

}  // namespace parley::transport::shm
