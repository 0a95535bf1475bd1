#pragma once

#include <algorithm>
#include <chrono>

namespace parley::transport {

// The time that counts where paths are compared. With fewer cores than ranks a process that waits gives its
// core away, and others do their work then; so it is not when a message has ended that tells how good its
// path is, but how long it has kept a core. What this process has given away while messages were under way
// does not pass on this clock. With a core of its own a wait passes: nobody else gains by it.
//
// Other threads may have looked at this clock while one was away: it never runs back, nor is any time given
// away twice. Thread-safety: none; the engine's lock.
template <typename Clock = std::chrono::steady_clock>
class BasicCoreClock {
 public:
  using TimePoint = typename Clock::time_point;

  [[nodiscard]] TimePoint now() noexcept {
    latest_ = std::max(latest_, Clock::now());
    return latest_ - given_away_;
  }

  void share_core(bool shared) noexcept { is_shared_ = shared; }
  [[nodiscard]] bool is_shared() const noexcept { return is_shared_; }

  // A thread had given its core away from `left` on, and has it back.
  void note_given_away(TimePoint left, TimePoint back) noexcept {
    const TimePoint since = std::max(left, latest_);
    if (!is_shared_ || back <= since) return;
    given_away_ += back - since;
    latest_ = back;
  }

 private:
  typename Clock::duration given_away_{0};
  TimePoint latest_{};  // what has been looked at, or given away
  bool is_shared_ = false;
};

using CoreClock = BasicCoreClock<>;

}  // namespace parley::transport
