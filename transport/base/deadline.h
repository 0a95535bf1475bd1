#pragma once

#include <chrono>

namespace parley::base {

using Clock = std::chrono::steady_clock;

// A point in steady time by which something must have happened, or never.
class Deadline {
 public:
  static constexpr Deadline never() noexcept { return Deadline(Clock::time_point::max()); }
  static constexpr Deadline at(Clock::time_point when) noexcept { return Deadline(when); }
  // A duration too long to add to the clock means never.
  static Deadline after(std::chrono::nanoseconds duration) noexcept {
    const auto now = Clock::now();
    if (duration >= Clock::time_point::max() - now) return never();
    return Deadline(now + duration);
  }

  [[nodiscard]] constexpr bool is_never() const noexcept { return when_ == Clock::time_point::max(); }
  [[nodiscard]] constexpr Clock::time_point when() const noexcept { return when_; }
  [[nodiscard]] bool expired() const noexcept { return !is_never() && Clock::now() >= when_; }
  // Time left, at least zero; nanoseconds::max() for never.
  [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept {
    if (is_never()) return std::chrono::nanoseconds::max();
    const auto left = when_ - Clock::now();
    return left.count() > 0 ? left : std::chrono::nanoseconds(0);
  }
  friend constexpr Deadline earliest(Deadline a, Deadline b) noexcept { return a.when_ < b.when_ ? a : b; }

 private:
  constexpr explicit Deadline(Clock::time_point when) noexcept : when_(when) {}
  Clock::time_point when_;
};

}  // namespace parley::base
