#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport/base/fence.h"
#include "transport/base/non_temporal.h"

namespace parley::base {

// How a writer stores in shared memory what others read, where their cores have read before: through the
// caches, or past them. Through the caches each line is taken from the reader's core first. That costs 2 to 6
// ns a line where both share a cache, and the reader then finds the line there; it costs 9 to 30 where they
// do not, and then the way over memory is the faster one for both. Nobody tells where the cores are, and they
// move; so the writer times some of its copies. What is read from memory for a copy is timed with it: then
// the caches would have kept little of it anyway. Pure: no clock. Thread-safety: none.
class StoreChoice {
 public:
  enum class Way : std::uint16_t {
    cached,        // plain stores
    cached_timed,  // the same, timed to their end: tell note() how long they took
    past_caches,
  };

  // What is shorter is always cached: reading it from memory takes longer than its lines cost.
  static constexpr std::size_t least_bytes = 1024;

  // For the next copy of at least least_bytes.
  [[nodiscard]] Way next() noexcept {
    if (!has_copy_past_caches) return Way::cached;
    if (--until_timed_ == 0) return Way::cached_timed;
    return usual_;
  }

  [[nodiscard]] bool goes_past_caches() const noexcept { return usual_ == Way::past_caches; }

  void note(std::chrono::nanoseconds took, std::size_t bytes) noexcept {
    const bool is_slow = took.count() > slow_ns + slow_ns_per_kib * static_cast<std::int64_t>(bytes) / 1024;
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
      until_timed_ = usual_ == Way::past_caches ? copies_per_trial : copies_per_timing;
  }

  // 7.5 ns a line, 8.5 GB/s, and what the clock and the end of the stores take.
  static constexpr std::int64_t slow_ns_per_kib = 120;
  static constexpr std::int64_t slow_ns = 100;
  // A clock is read twice, in 50 ns.
  static constexpr std::uint32_t copies_per_timing = 32;
  // The slow way may take four times as long.
  static constexpr std::uint32_t copies_per_trial = 128;
  // In a row: one copy may have met an interrupt, or a page for the first time.
  static constexpr std::uint16_t needed_doubts = 3;

 private:
  std::uint32_t until_timed_ = copies_per_timing;
  std::uint16_t doubts_ = 0;  // copies in a row that spoke for the other way
  Way usual_ = Way::cached;   // never the timed one
};

// Makes a copy of so many bytes as `choice` says: by cached() or past_caches(), each without arguments.
template <typename Clock = std::chrono::steady_clock, typename Cached, typename PastCaches>
void store_as_chosen(StoreChoice& choice, std::size_t bytes, const Cached& cached,
                     const PastCaches& past_caches) noexcept {
  using Way = StoreChoice::Way;
  const Way way = bytes < StoreChoice::least_bytes ? Way::cached : choice.next();
  if (way == Way::past_caches) return past_caches();
  if (way == Way::cached) return cached();
  const auto began = Clock::now();
  cached();
  full_fence();  // the stores are done, and no longer only on their way
  choice.note(Clock::now() - began, bytes);
}

}  // namespace parley::base
