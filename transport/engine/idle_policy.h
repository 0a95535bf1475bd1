#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace parley::transport {

// Whether it pays to poll for about a microsecond before the core is given away, with fewer cores than ranks:
// when the rank one waits for runs on another core at that moment, it answers within that time, and both then
// talk without the kernel. When it does not run, it may need this very core. Nobody tells, so the waits
// themselves do: each long look that met an answer is a credit, each that did not costs several, and without
// credit a look is tried now and then. Pure. Thread-safety: none; the engine's lock.
class LongLooks {
 public:
  // Asked once in each wait that found nothing at once.
  bool wanted() noexcept {
    if (credit_ != 0) return true;
    if (++waits_since_trial_ < waits_between_trials) return false;
    waits_since_trial_ = 0;
    return true;
  }
  void paid() noexcept { credit_ = std::min(credit_ + 1, most_credit); }
  void failed() noexcept { credit_ -= std::min(credit_, price_of_failure); }

  // A look that fails takes as long as several that meet their answer: four in five have to.
  static constexpr std::uint32_t price_of_failure = 4;
  static constexpr std::uint32_t most_credit = 16;
  // No power of two, for programs count in them.
  static constexpr std::uint32_t waits_between_trials = 61;

 private:
  std::uint32_t credit_ = 0;
  std::uint32_t waits_since_trial_ = 0;
};

// How a thread waits that finds nothing to do: poll at once, then yield the core between polls, then sleep.
// With a core for every rank it polls long, for a wake-up costs more than most waits last; with fewer it
// gives the core away at once, unless long looks pay, and yields a bounded number of times. Pure: no clock,
// no system call; the caller asks for the next step. Thread-safety: none.
class IdlePolicy {
 public:
  enum class Step : std::uint8_t {
    poll,   // again at once
    clock,  // poll again; look at the clock first (deadlines, the spin budget)
    yield,  // give the core away, then poll again
    sleep,  // block until something happens
  };

  // Borrows `looks`, which all waits of a process share.
  IdlePolicy(bool core_per_rank, LongLooks& looks) noexcept : looks_(looks), core_per_rank_(core_per_rank) {}

  // After a poll that found nothing, quick looks before it included. `waited` is what the caller last
  // measured; zero before the first `clock` since the last reset().
  Step next(std::chrono::nanoseconds waited, std::uint32_t quick_looks = 0) noexcept {
    ++empty_polls_;
    if (!core_per_rank_) return next_on_shared_core();
    if (waited >= spin_budget) return Step::sleep;
    looks_since_clock_ += 1 + quick_looks / 2;  // they come in pairs
    if (looks_since_clock_ < looks_per_clock) return Step::poll;
    looks_since_clock_ = 0;
    return Step::clock;
  }
  // A poll found something: waiting starts over.
  void reset() noexcept {
    if (empty_polls_ != 0 && empty_polls_ <= look_) looks_.paid();
    empty_polls_ = looks_since_clock_ = 0;
    look_ = 0;
    spent_ = 0;
  }

  // After each yield. `away`: how long the core was gone, by it and the poll after it. Who gets it for long
  // is no rank that answers but something that computes, and a yield lets that go first for a whole turn each
  // time; a sleeper goes first when it is woken. If it was gone for a moment only, nobody else wanted it, and
  // it may be had for longer.
  void note_yield(std::chrono::nanoseconds away) noexcept {
    const bool was_alone = away < short_yield;
    spent_ += was_alone            ? 1
              : away >= long_yield ? yields_of_a_long_one * short_yields_of_one
                                   : short_yields_of_one;
  }

  // No clock is read in a wait that is over by then.
  static constexpr std::uint32_t looks_per_clock = 1000;
  // Measured here: a wake-up costs 16 to 40 us; a 1 MiB message over loopback takes 250 us.
  static constexpr std::chrono::nanoseconds spin_budget = std::chrono::milliseconds(2);
  // 3 to 5 us over shared memory, 30 us over TCP; an answer takes 0.2 and 3 us. With half of it a pair rarely
  // finds together while another pair has done so.
  static constexpr std::uint32_t polls_of_long_look = 96;
  // 20 to 50 us, as long as a wake-up takes: whoever sleeps sooner pays more for it than it waited.
  static constexpr std::uint32_t oversubscribed_yields = 48;
  // A turn of the kernel's scheduler is 1.5 to 4 ms; ranks that copy for each other take less.
  static constexpr std::chrono::nanoseconds long_yield = std::chrono::milliseconds(1);
  static constexpr std::uint32_t yields_of_a_long_one = 16;
  // A switch to another rank and back takes 1.2 us and more, a yield to nobody 0.25 and a poll 0.2. Together
  // 0.2 ms: others may need what this core gets of a quota.
  static constexpr std::chrono::nanoseconds short_yield = std::chrono::microseconds(1);
  static constexpr std::uint32_t short_yields_of_one = 8;

 private:
  Step next_on_shared_core() noexcept {
    if (empty_polls_ == 1) look_ = looks_.wanted() ? polls_of_long_look : 0;
    if (empty_polls_ <= look_) return Step::poll;
    if (look_ != 0 && empty_polls_ == look_ + 1) looks_.failed();
    return spent_ < oversubscribed_yields * short_yields_of_one ? Step::yield : Step::sleep;
  }

  LongLooks& looks_;
  bool core_per_rank_;
  std::uint32_t empty_polls_ = 0;
  std::uint32_t look_ = 0;               // polls before the first yield
  std::uint32_t spent_ = 0;              // of what may be yielded, in short yields
  std::uint32_t looks_since_clock_ = 0;  // polls, and pairs of quick looks
};

}  // namespace parley::transport
