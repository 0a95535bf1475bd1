#include "bench/core_watch.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>

namespace parley::bench {
namespace {

// How long the calling thread has been ready to run without running, since its start.
std::optional<double> waited_us() {
  std::ifstream account("/proc/thread-self/schedstat");
  std::uint64_t ran_ns = 0;
  std::uint64_t waited_ns = 0;
  if (account >> ran_ns >> waited_ns) return static_cast<double>(waited_ns) / 1000;
  return std::nullopt;
}

double processor_us(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

// Processor time of this process's other threads.
double helpers_us() {
  return processor_us(CLOCK_PROCESS_CPUTIME_ID) - processor_us(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace

CoreWatch::CoreWatch() : waited_us_before_(waited_us()), helpers_us_before_(helpers_us()) {}

std::optional<double> CoreWatch::share() const {
  const double elapsed_us = wall_.elapsed_us();
  const double helped_us = helpers_us() - helpers_us_before_;
  const std::optional<double> waited_us_now = waited_us();
  if (!waited_us_before_ || !waited_us_now) return std::nullopt;
  const double lost_us = *waited_us_now - *waited_us_before_ - helped_us;
  return std::clamp(1 - lost_us / elapsed_us, 0.0, 1.0);
}

}  // namespace parley::bench
