#pragma once

#include <chrono>
#include <ctime>

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

// Processor time of the calling thread since construction, in microseconds.
class CpuWatch {
 public:
  [[nodiscard]] double elapsed_us() const noexcept { return now_us() - start_us_; }

 private:
  static double now_us() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
  }
  double start_us_ = now_us();
};

}  // namespace parley::bench
