#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "transport/base/fence.h"
#include "transport/base/result.h"
#include "transport/base/unique_fd.h"
#include "transport/shm/segment.h"

namespace parley::transport::shm {

// The doorbell between processes: who is about to sleep says so in a word that all its writers see, and a
// writer that has published something looks at the word and rings only then.
//
// Invariants, for a sleeper S and each of its writers W:
// 1. S stores `asleep`, then a fence, then looks at everything that W may have published, then sleeps.
// 2. W publishes, then a fence, then loads the word. One of the two sees the other's store: S finds the
//    record, or W finds `asleep` (tests/model/bell_model_test.cc). One fence and one load do for all that W
//    published before them; until then S may sleep beside records.
// 3. The word goes back to `awake` by an exchange: of all writers that find `asleep` one takes it away and
//    signals the eventfd. A burst costs one system call.
// 4. The signal follows the exchange and may be late: S has woken for another reason, and its next sleep is
//    cut short. cancel() clears the eventfd each time, so that a late signal costs one sleep and not all. A
//    writer killed between the two leaves S asleep with nobody to ring; S hears of that death by its socket.
// 5. Nothing is believed of what others may write: whatever the page holds, S sleeps too little or, as after
//    a missed ring, until its next look (the engine sleeps 100 ms at most), and W makes system calls in vain.
// The model is a copy of this code by hand, of its steps and fences: who changes one changes the other. The
// code itself is run by tests/unit/shm/bell_processes_test.cc (two processes, thousands of sleeps) and by the
// transport contract over tight rings (tests/contract/transport/shm_test.cc).
// Who holds the eventfd may also change its flags. It is of the same user and could kill us anyway.

// What the page begins with; 128 bytes are the line and its neighbour, which the prefetcher fetches too.
struct BellPage {
  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t asleep = 1;  // and whatever else a hostile peer puts there

  alignas(128) std::atomic<std::uint32_t> word;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// The end of the one who sleeps. Thread-safety: none; the engine's lock.
class OwnBell {
 public:
  // Fails with `exhausted`.
  static base::Result<OwnBell> create();

  // "I am about to sleep". What a writer published before it found us awake is seen by the look that comes
  // next. cancel() comes after it in any case.
  void announce() noexcept;
  // "I am awake", and the eventfd is readable no longer. Does nothing unless announced.
  void cancel() noexcept;

  // The eventfd: readable once somebody rang, to be watched here and to be handed to writers.
  [[nodiscard]] int event() const noexcept { return event_.get(); }
  // The page, to be handed to writers.
  [[nodiscard]] int page() const noexcept { return page_.fd(); }

 private:
  OwnBell(Segment page, base::UniqueFd event) noexcept;

  Segment page_;
  base::UniqueFd event_;
  BellPage* shared_;
  bool announced_ = false;
};

// The end of one who wakes another process. Thread-safety: safe.
class PeerBell {
 public:
  // Fails with `protocol_violation` for descriptors that are not what they should be, or `exhausted`.
  static base::Result<PeerBell> attach(base::UniqueFd page, base::UniqueFd event);

  // Nothing, until one is moved here.
  PeerBell() noexcept = default;

  // After publishing, by a release store or a stronger one. No system call unless the owner sleeps, and then
  // one for all that find it so.
  void ring_if_asleep() noexcept {
    base::full_fence();
    ring_if_seen_asleep();
  }
  // The same after a fence of the caller's, which may serve several bells.
  void ring_if_seen_asleep() noexcept {
    // relaxed: the fence orders this load after the record's store, and nothing is read because of it.
    if (shared_->word.load(std::memory_order_relaxed) != BellPage::awake) [[unlikely]]
      ring();
  }
  // What ring_if_seen_asleep() looks at; mapped as long as the result is held. REQUIRES: attached.
  [[nodiscard]] std::shared_ptr<const std::atomic<std::uint32_t>> word() const noexcept {
    return {page_, &shared_->word};
  }

 private:
  PeerBell(std::shared_ptr<const Segment> page, base::UniqueFd event) noexcept;
  void ring() noexcept;

  std::shared_ptr<const Segment> page_;
  base::UniqueFd event_;
  BellPage* shared_ = nullptr;
};

}  // namespace parley::transport::shm
