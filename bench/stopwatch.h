#pragma once

#include <algorithm>
#include <chrono>

namespace parley::bench {

// Microseconds since construction or the last lap, on the steady clock. Reading it costs about 25 ns.
class Stopwatch {
 public:
  // Microseconds since the start, which stays.
  [[nodiscard]] double elapsed_us() const noexcept { return microseconds(Clock::now() - start_); }
  // Microseconds since the start, which moves to now: consecutive laps leave no gap.
  double lap_us() noexcept {
    const auto now = Clock::now();
    const double elapsed = microseconds(now - start_);
    start_ = now;
    return elapsed;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double microseconds(Clock::duration duration) noexcept {
    return std::chrono::duration<double, std::micro>(duration).count();
  }
  Clock::time_point start_ = Clock::now();
};

// What a Stopwatch adds to the time it measures: an empty stretch, the shortest of many.
inline double clock_cost_us() noexcept {
  double least_us = Stopwatch().elapsed_us();
  for (int i = 0; i < 100; ++i) least_us = std::min(least_us, Stopwatch().elapsed_us());
  return least_us;
}

}  // namespace parley::bench
