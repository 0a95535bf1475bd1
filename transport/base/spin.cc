#include "transport/base/spin.h"

#include <algorithm>
#include <chrono>

namespace parley::base {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int rounds = 5;  // an interrupt may meet one
constexpr int pauses = 16;
constexpr auto longest_short_pause = std::chrono::nanoseconds(30);

bool time_pauses() noexcept {
  auto shortest = Clock::duration::max();
  for (int round = 0; round < rounds; ++round) {
    const auto began = Clock::now();
    for (int i = 0; i < pauses; ++i) cpu_relax();
    shortest = std::min(shortest, Clock::now() - began);
  }
  return shortest < pauses * longest_short_pause;
}

}  // namespace

bool is_relaxing_short() noexcept {
  static const bool is_short = time_pauses();
  return is_short;
}

}  // namespace parley::base
