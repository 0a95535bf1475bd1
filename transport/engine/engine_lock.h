#pragma once

#include <atomic>
#include <cstdint>

namespace parley::transport {

// The one lock of a rank, taken at the API. Uncontended it costs one atomic exchange each way. A thread that
// polls under it looks at contended() and lets others in with yield().
//
// Invariants: (1) `state_` is `asleep` whenever a thread may sleep in the kernel for it; (2) `contenders_`
// counts the threads inside lock() beyond its first attempt.
class EngineLock {
 public:
  void lock() noexcept {
    if (!try_lock()) lock_contended();
  }
  bool try_lock() noexcept {
    std::uint32_t expected = free;
    // acquire: what the last holder wrote is ours to see.
    return state_.compare_exchange_strong(expected, held, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void unlock() noexcept {
    // release: pairs with the acquire of the next holder.
    if (state_.exchange(free, std::memory_order_release) == asleep) wake_one();
  }
  // relaxed: a hint; a contender that is missed now is seen at the next look.
  [[nodiscard]] bool contended() const noexcept { return contenders_.load(std::memory_order_relaxed) != 0; }
  // Lets a contender have its turn, then takes the lock again. REQUIRES: held by the caller.
  void yield() noexcept;

 private:
  enum : std::uint32_t { free = 0, held = 1, asleep = 2 };
  void lock_contended() noexcept;
  void wake_one() noexcept;

  std::atomic<std::uint32_t> state_{free};
  std::atomic<std::uint32_t> contenders_{0};
};

}  // namespace parley::transport
