#pragma once

#include <chrono>

namespace parley::transport {

// The time that counts where paths are compared. With fewer cores than ranks a process that waits gives its
// core away, and others do their work then; so it is not when a message has ended that tells how good its
// path is, but how long it has kept a core. What this process has given away does not pass on this clock.
// With a core of its own a wait passes: nobody else gains by it. Thread-safety: none; the engine's lock.
template <typename Clock = std::chrono::steady_clock>
class BasicCoreClock {
 public:
  [[nodiscard]] typename Clock::time_point now() const noexcept { return Clock::now() - given_away_; }

  void share_core(bool shared) noexcept { is_shared_ = shared; }
  [[nodiscard]] bool is_shared() const noexcept { return is_shared_; }

  void note_given_away(typename Clock::duration time) noexcept {
    if (is_shared_) given_away_ += time;
  }

 private:
  typename Clock::duration given_away_{0};
  bool is_shared_ = false;
};

using CoreClock = BasicCoreClock<>;

}  // namespace parley::transport
