#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport/base/copy_bulk.h"
#include "transport/base/fence.h"
#include "transport/base/fetch.h"
#include "transport/base/non_temporal.h"

namespace parley::base {

// How a writer stores in shared memory what others read, where their cores have read before: through the
// caches, or past them. Through the caches each line is taken from the reader's core first. That costs 2 to 6
// ns a line where both share a cache, and the reader then finds the line there; it costs 9 to 30 where they
// do not, and then the way over memory may be the faster one for both. Nobody tells where the cores are, and
// they move; so the writer times some of its copies, of long ones the first bytes, which it has read before:
// how fast memory is tells nothing of that.
//
// Where the cores are close, copies of 2 to 4 KiB are made in pieces: memcpy() takes the string instruction
// for more than 2 KiB at once, which begins later, by 30 to 140 ns; plain stores of 4 KiB find room in the
// core's store buffer. Elsewhere, and in a row of copies, of which the next one begins meanwhile, the
// instruction is the faster one, by up to three times. Pure: no clock.
// Thread-safety: none.
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
    return lines_are_surely_slow() ? Way::past_caches : Way::cached;
  }

  [[nodiscard]] bool goes_past_caches() const noexcept { return lines_are_slow_.holds(); }

  // Whether the next copies follow others that nobody has waited for.
  void set_in_row(bool is_in_row) noexcept { is_in_row_ = is_in_row ? 1 : 0; }

  // Whether they are, as far as copies of at least least_bytes have told.
  [[nodiscard]] bool cores_are_close() const noexcept { return cores_are_close_.holds(); }

  // Whether a copy of `bytes` is faster if this core owns its first lines before. The string instruction,
  // which is chosen where cores are not close, loses by it: 4 KiB one way take 845 ns so and 715 without.
  [[nodiscard]] bool gains_by_fetching(std::size_t bytes) const noexcept {
    if (bytes >= least_bytes && goes_past_caches()) return false;
    return bytes <= most_piece || cores_are_close_.holds();
  }

  // So many bytes at once, in a copy of `bytes` through the caches, to the others or of what they have
  // stored.
  [[nodiscard]] std::size_t piece_of(std::size_t bytes) const noexcept {
    return cores_are_close_.holds() ? piece_if_close(bytes) : bytes;
  }
  // The same of a copy that is timed. In pieces in turn, for only so its time tells whether cores are close,
  // and only the other way whether lines are slow.
  [[nodiscard]] std::size_t timed_piece_of(std::size_t bytes) const noexcept {
    return times_pieces_ != 0 ? piece_if_close(bytes) : bytes;
  }
  // REQUIRES: bytes <= most_telling.
  void note(std::chrono::nanoseconds took, std::size_t bytes, std::size_t piece) noexcept {
    const bool is_whole = piece >= bytes;
    const bool follows_others_past = lines_are_surely_slow() && bytes <= most_in_one_place;
    const std::int64_t bound = follows_others_past ? slow_after_others_ns_per_kib : slow_ns_per_kib;
    if (is_whole) lines_are_slow_.hear(took.count() > slow_ns + scaled(bound, bytes));
    // In a row of copies one waits for those before it, too.
    const bool begins_late = piece > most_piece && piece < least_late_telling;
    if (!begins_late && is_in_row_ == 0)
      cores_are_close_.hear(took.count() < close_ns + scaled(close_ns_per_kib, bytes));
    if (lines_are_slow_.is_doubted()) {
      agreeing_ = 0;
      until_timed_ = follows_others_past ? copies_until_cached : std::uint8_t{1};
      times_pieces_ = 0;
    } else {
      agreeing_ = cores_are_close_.is_doubted() ? 0 : std::min<std::uint8_t>(agreeing_ + 1, enough_agreeing);
      until_timed_ = lines_are_slow_.holds() ? copies_per_trial
                     : is_settled()          ? copies_per_timing_if_settled
                                             : copies_per_timing;
      times_pieces_ = is_whole ? 1 : 0;
    }
  }

  // 7.5 ns a line, 8.5 GB/s, and what the clock and the end of the stores take.
  static constexpr std::int64_t slow_ns_per_kib = 120;
  static constexpr std::int64_t slow_ns = 100;
  // Of a trial, which meets lines that were stored past the caches: 4 KiB take 550 to 1 000 ns then, where
  // 450 otherwise, and 1 300 and more where lines are slow.
  static constexpr std::int64_t slow_after_others_ns_per_kib = 190;
  // The copy that confirms it, counted from the trial: by then those between have brought the lines back, for
  // a board shows eight stages in turn.
  static constexpr std::uint8_t copies_until_cached = 9;
  // What is longer is stored in another place each time, which those do not bring back.
  static constexpr std::size_t most_in_one_place = 4096;
  // 1 to 4 KiB take 30 to 90 ns between cores that share a cache, else 170 to 250; 8 and 16 KiB, by the
  // string instruction, 100 to 170 and 190.
  static constexpr std::int64_t close_ns_per_kib = 10;
  static constexpr std::int64_t close_ns = 100;
  static constexpr std::size_t most_in_pieces = 4096;
  static constexpr std::size_t most_piece = 2048;
  // From here on the string instruction's late beginning does not hide what the lines take.
  static constexpr std::size_t least_late_telling = 8 << 10;
  // Source and copy have room in a core's first cache.
  static constexpr std::size_t most_telling = 16 << 10;
  // A clock is read twice, and the stores are waited for: 120 ns.
  static constexpr std::uint8_t copies_per_timing = 32;
  // Between close cores, while timings say the same: of 1 KiB one in 32 is 3 % of what they take. Between
  // far ones it is nothing that could be measured.
  static constexpr std::uint8_t copies_per_timing_if_settled = 240;
  static constexpr std::uint8_t enough_agreeing = 8;
  // The slow way may take four times as long.
  static constexpr std::uint8_t copies_per_trial = 128;

 private:
  // What several timings in a row have said: one copy may have met an interrupt, or a page for the first
  // time.
  class Belief {
   public:
    [[nodiscard]] bool holds() const noexcept { return holds_; }
    [[nodiscard]] bool is_doubted() const noexcept { return doubts_ != 0; }
    void hear(bool says) noexcept {
      doubts_ = says == holds_ ? std::uint8_t{0} : static_cast<std::uint8_t>(doubts_ + 1);
      if (doubts_ < needed_doubts) return;
      holds_ = says;
      doubts_ = 0;
    }

   private:
    static constexpr std::uint8_t needed_doubts = 3;
    std::uint8_t doubts_ = 0;  // timings in a row that said the contrary
    bool holds_ = false;
  };

  static constexpr std::int64_t scaled(std::int64_t ns_per_kib, std::size_t bytes) noexcept {
    return ns_per_kib * static_cast<std::int64_t>(bytes) / 1024;
  }
  [[nodiscard]] std::size_t piece_if_close(std::size_t bytes) const noexcept {
    return bytes <= most_in_pieces && is_in_row_ == 0 ? std::min(bytes, most_piece) : bytes;
  }

  // And no timing has just said otherwise.
  [[nodiscard]] bool lines_are_surely_slow() const noexcept {
    return lines_are_slow_.holds() && !lines_are_slow_.is_doubted();
  }
  [[nodiscard]] bool is_settled() const noexcept {
    return cores_are_close_.holds() && agreeing_ == enough_agreeing;
  }

  // No padding, for the model of the ring compares states.
  std::uint8_t until_timed_ = copies_per_timing;
  std::uint8_t agreeing_ = 0;      // timings in a row that left no doubt, up to enough
  std::uint8_t is_in_row_ = 0;     // a bool
  std::uint8_t times_pieces_ = 0;  // the same
  Belief lines_are_slow_;
  Belief cores_are_close_;
};

// Calls use(offset, length) for each piece of so many bytes.
template <typename Use>
void for_each_piece(std::size_t bytes, std::size_t piece, const Use& use) noexcept {
  for (std::size_t done = 0; done < bytes; done += piece) use(done, std::min(piece, bytes - done));
}

// Way::cached_timed, of a copy from `from`, by cached(offset, length). Of a long one the first bytes tell,
// once they are in this core's caches: else it would be the memory that they come from that is timed.
template <typename Clock = std::chrono::steady_clock, typename Cached>
void store_timed(StoreChoice& choice, const std::byte* from, std::size_t bytes,
                 const Cached& cached) noexcept {
  const std::size_t telling = std::min(bytes, StoreChoice::most_telling);
  if (telling < bytes) load_into_caches(from, telling);
  const auto began = Clock::now();
  const std::size_t piece = choice.timed_piece_of(telling);
  for_each_piece(telling, piece, cached);
  full_fence();  // the stores are done, and no longer only on their way
  choice.note(Clock::now() - began, telling, piece);
  if (telling < bytes) cached(telling, bytes - telling);
}

// Makes a copy of so many bytes from `from` as `choice` says: by cached(offset, length), once or piece by
// piece, or by past_caches().
template <typename Clock = std::chrono::steady_clock, typename Cached, typename PastCaches>
void store_as_chosen(StoreChoice& choice, const std::byte* from, std::size_t bytes, const Cached& cached,
                     const PastCaches& past_caches) noexcept {
  using Way = StoreChoice::Way;
  if (bytes < StoreChoice::least_bytes) return cached(std::size_t{0}, bytes);
  const Way way = choice.next();
  if (way == Way::past_caches) return past_caches();
  if (way == Way::cached) return for_each_piece(bytes, choice.piece_of(bytes), cached);
  store_timed<Clock>(choice, from, bytes, cached);
}

// Copies what others have stored through the caches; `choice` is that of this rank's own stores, for it is as
// far from them as they are from it.
inline void load_as_chosen(const StoreChoice& choice, std::byte* to, const std::byte* from,
                           std::size_t bytes) noexcept {
  fetch_for_read(from, bytes);
  for_each_piece(bytes, choice.piece_of(bytes),
                 [=](std::size_t at, std::size_t piece) { copy_bulk(to + at, from + at, piece); });
}

}  // namespace parley::base
