#pragma once

#include <atomic>
#include <cstdint>

namespace parley::transport {

// The one lock of a rank, taken at the API. Uncontended it costs one locked instruction: letting go is a
// store and a load. A locked instruction there would wait for all stores before it, those into a peer's cache
// included. A thread that polls under it looks at contended() and lets others in with yield().
//
// Invariants:
// 1. `contenders_` counts the threads inside lock() beyond its first attempt; `sleepers_` those of them that
//    may sleep in the kernel.
// 2. Who unlocks stores `free`, then loads `sleepers_`; who is about to sleep counts itself in `sleepers_`,
//    then has the kernel look at `state_` a last time. Between its two steps the sleeper has a full barrier
//    run on every core that runs a thread of this process (membarrier), so that the one who unlocks needs
//    none: if its load comes before that barrier, its store does, too, and the kernel finds `free`; if it
//    comes after, it finds the sleeper, and wakes it.
// 3. Where the kernel has no such barrier, a sleeper sleeps a millisecond at most before it looks again.
class EngineLock {
 public:
  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      lock_contended();
  }
  bool try_lock() noexcept {
    std::uint32_t expected = free;
    // acquire: what the last holder wrote is ours to see.
    return state_.compare_exchange_strong(expected, held, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void unlock() noexcept {
    // release: pairs with the acquire of the next holder.
    state_.store(free, std::memory_order_release);
    // For the compiler; the cores' order is the sleeper's affair (invariant 2).
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // relaxed: nothing is read because of it.
    if (sleepers_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake_one();
  }
  // relaxed: a hint; a contender that is missed now is seen at the next look.
  [[nodiscard]] bool contended() const noexcept { return contenders_.load(std::memory_order_relaxed) != 0; }
  // Lets a contender have its turn, then takes the lock again. REQUIRES: held by the caller.
  void yield() noexcept;

 private:
  enum : std::uint32_t { free = 0, held = 1 };
  void lock_contended() noexcept;
  bool spin() noexcept;
  void sleep() noexcept;
  void wake_one() noexcept;

  std::atomic<std::uint32_t> state_{free};
  std::atomic<std::uint32_t> contenders_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace parley::transport
