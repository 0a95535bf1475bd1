#pragma once

#include <chrono>
#include <cstdint>

namespace parley::transport {

// How a thread waits that finds nothing to do: poll at once, then yield the core between polls, then sleep.
// With a core for every rank it polls long, for a wake-up costs more than most waits last; with fewer it
// polls little, for the rank it waits for needs the core, and yields a bounded number of times. Pure: no
// clock, no system call; the caller asks for the next step. Thread-safety: none.
class IdlePolicy {
 public:
  enum class Step : std::uint8_t {
    poll,   // again at once
    clock,  // poll again; look at the clock first (deadlines, the spin budget)
    yield,  // give the core away, then poll again
    sleep,  // block until something happens
  };

  explicit IdlePolicy(bool core_per_rank) noexcept : core_per_rank_(core_per_rank) {}

  // After a poll that found nothing. `waited` is what the caller last measured; zero before the first
  // `clock`.
  Step next(std::chrono::nanoseconds waited) noexcept {
    ++empty_polls_;
    if (core_per_rank_) {
      if (empty_polls_ % polls_per_clock != 0) return Step::poll;
      return waited < spin_budget ? Step::clock : Step::sleep;
    }
    if (empty_polls_ <= oversubscribed_polls) return Step::poll;
    return empty_polls_ <= oversubscribed_polls + oversubscribed_yields ? Step::yield : Step::sleep;
  }
  // A poll found something: waiting starts over.
  void reset() noexcept { empty_polls_ = 0; }

  // No clock is read in a wait that is over by then.
  static constexpr std::uint32_t polls_per_clock = 1000;
  // Measured here: a wake-up costs 16 to 40 us; a 1 MiB message over loopback takes 250 us.
  static constexpr std::chrono::nanoseconds spin_budget = std::chrono::milliseconds(2);
  static constexpr std::uint32_t oversubscribed_polls = 4;
  static constexpr std::uint32_t oversubscribed_yields = 16;

 private:
  bool core_per_rank_;
  std::uint32_t empty_polls_ = 0;
};

}  // namespace parley::transport
