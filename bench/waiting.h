#pragma once

#include <chrono>
#include <cstdint>

#include "bench/raw_link.h"
#include "transport/base/spin.h"

namespace parley::bench {

// Waits for a flag in shared memory that only the partner sets. Such a flag says nothing when the partner
// dies, so a long wait looks now and then whether the pair's connection still stands.
class Waiting {
 public:
  // Borrows the link, on which nothing is received meanwhile.
  Waiting(const RawLink& link, Idle idle) noexcept : link_(link) { set_idle(idle); }
  void set_idle(Idle idle) noexcept {
    polls_before_yield_ = polls_of(idle);
    sleeps_ = idle == Idle::sleep;
  }

  // Polls until ready() is true, and does between two polls what `Idle` says. Throws std::runtime_error when
  // the partner has gone, within milliseconds, or when nothing came for 30 s.
  template <typename Ready>
  void until(Ready&& ready) const {
    Stall stall;
    while (!ready()) {
      ++stall.polls;
      if (stall.polls > polls_before_yield_) {
        give_core_away();
      } else {
        base::cpu_relax();
      }
      if (stall.polls % polls_per_check == 0) check(stall);
    }
  }

 private:
  // A partner that is not running gets this core after a while in any case.
  static constexpr std::uint64_t polls_of_spin = 4096;
  // About a microsecond; an answer takes half of one.
  static constexpr std::uint64_t polls_of_look = 64;
  static constexpr std::uint64_t polls_per_check = 4096;

  static constexpr std::uint64_t polls_of(Idle idle) noexcept {
    switch (idle) {
      case Idle::spin: return polls_of_spin;
      case Idle::look: return polls_of_look;
      case Idle::yield:
      case Idle::sleep: break;
    }
    return 0;
  }

  struct Stall {
    std::uint64_t polls = 0;
    std::chrono::steady_clock::time_point first_check = {};
  };
  void check(Stall& stall) const;
  void give_core_away() const noexcept;

  const RawLink& link_;
  std::uint64_t polls_before_yield_ = 0;
  bool sleeps_ = false;
};

}  // namespace parley::bench
