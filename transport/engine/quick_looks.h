#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/base/spin.h"
#include "transport/interface/transport.h"

namespace parley::transport {

// A core's own pause.
struct RelaxedPause {
  static void pause() noexcept { base::cpu_relax(); }
  static bool is_short() noexcept { return base::is_relaxing_short(); }
};

// How the link that is waited for is looked at, before and between the polls that look at everything. Each
// look takes the cache line in which the next message begins from the core that is about to write it, and
// that core waits until it has it back: looks come in pairs, a pause apart, and a wait begins with some
// pauses once first looks made at once have been in vain. Thread-safety: none; the engine's lock.
template <typename Pause>
class BasicQuickLooks {
 public:
  // Enough for most answers over shared memory. A poll of everything takes as long as two pauses, and what
  // comes meanwhile waits for it.
  static constexpr std::uint32_t most = 13;
  // No longer than an answer from a near core takes.
  static constexpr std::uint32_t first_pauses = 2;
  // First looks made at once, in a row. One is no habit: who waits for an end and then for an answer may find
  // the answer there.
  static constexpr std::uint32_t least_in_vain = 2;
  // No power of two, for programs count in them.
  static constexpr std::uint32_t waits_between_trials = 17;

  // The next looks are the first of a thread that begins to poll.
  void begin() noexcept { begins_ = true; }

  // Up to `count` looks at `link`, which may be null if there are none; one alone is made at once, for there
  // is other work. Returns the number of events; the look that has some is the last.
  std::size_t at(Endpoint* link, std::uint32_t count) noexcept {
    const bool are_first = begins_ && count > 1;
    begins_ = false;
    if (count == 0) return 0;
    std::size_t events = are_first ? first_look(*link) : link->take_arrived();
    for (std::uint32_t looks = 1; events == 0 && looks < count; ++looks) {
      if (looks % 2 != 0) Pause::pause();
      events = link->take_arrived();
    }
    return events;
  }

 private:
  std::size_t first_look(Endpoint& link) noexcept {
    if (in_vain_ >= least_in_vain && ++waits_ % waits_between_trials != 0) {
      for (std::uint32_t i = 0; i < first_pauses; ++i) Pause::pause();
      return link.take_arrived();
    }
    const std::size_t events = link.take_arrived();
    in_vain_ = events != 0 || !pause_is_short_ ? 0 : in_vain_ + 1;
    return events;
  }

  const bool pause_is_short_ = Pause::is_short();
  bool begins_ = false;
  std::uint32_t in_vain_ = 0;  // first looks in a row that were made at once and found nothing
  std::uint32_t waits_ = 0;
};

using QuickLooks = BasicQuickLooks<RelaxedPause>;

}  // namespace parley::transport
