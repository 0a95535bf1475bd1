#pragma once

#include <atomic>
#include <cstdint>

namespace parley::transport {

// The one lock of a rank, taken at the API. A thread that is mostly alone with it comes to own it: to take it
// costs such an owner two stores and two loads, and no locked instruction, which would wait for all stores
// before it, those into a peer's cache included. For others it costs one; letting go is a store and a load
// for both. A thread that polls under it looks at contended() and lets others in with yield().
//
// `state_` says who of the others holds it, `owner_` whom it is biased to, and `inside_` whether that owner
// holds it. See D. Dice, M. Moir, W. Scherer, "Quickly Reacquirable Locks" (2003), for the idea.
//
// Invariants:
// 1. `contenders_` counts the threads inside lock() beyond its first attempt; `sleepers_` those of them that
//    may sleep in the kernel.
// 2. Who lets go stores 0 to `state_` or `inside_`, then loads `sleepers_`; who is about to sleep counts
//    itself in `sleepers_`, then has the kernel look at that word a last time. Between its two steps the
//    sleeper has a full barrier run on every core that runs a thread of this process (membarrier), so that
//    the one who lets go needs none: if its load comes before that barrier, its store does, too, and the
//    kernel finds 0; if it comes after, it finds the sleeper, and wakes it.
// 3. Where the kernel has no such barrier, a sleeper sleeps a millisecond at most before it looks again, and
//    nobody becomes the owner.
// 4. `owner_` is written by the holder of `state_` only: it names itself, or nobody in the place of another.
// 5. The owner stores 1 to `inside_`, then loads `owner_`: it holds the lock if it is still named there. Who
//    takes `state_` and finds an owner there stores nobody and has the same barrier run. If the owner's load
//    comes before that barrier, its store does, too; if it comes after, the owner finds that it is none any
//    more, and takes `state_` as others do.
// 6. Who has taken `state_`, and found nobody or stored nobody in `owner_`, holds the lock once `inside_` is
//    0. This holds if it found nobody, too: who tries does not wait, and leaves a disowned owner inside.
// 7. One thread at a time writes `inside_`: nobody becomes the owner before the last one, `disowned_`, has
//    taken `state_` itself. Until then it may be about to store 1 and then 0 there.
class EngineLock {
 public:
  // Asks the kernel for the barrier: some 10 ms once the process has other threads, and nothing before.
  EngineLock() noexcept;
  EngineLock(const EngineLock&) = delete;
  EngineLock& operator=(const EngineLock&) = delete;

  [[gnu::hot]] void lock() noexcept {
    if (!enter_as_owner()) [[unlikely]]
      lock_as_other();
  }
  // False: somebody else holds it, or owns it and may.
  bool try_lock() noexcept { return enter_as_owner() || try_lock_as_other(); }
  void unlock() noexcept { let_go(holds_as_owner_ ? inside_ : state_); }
  // relaxed: a hint; a contender that is missed now is seen at the next look.
  [[nodiscard]] bool contended() const noexcept { return contenders_.load(std::memory_order_relaxed) != 0; }
  // Lets a contender have its turn, then takes the lock again. REQUIRES: held by the caller.
  void yield() noexcept;

 private:
  using Word = std::atomic<std::uint32_t>;
  enum : std::uint32_t { free = 0, held = 1 };

  // A thread is named by the place of something of its own.
  using Thread = const char*;
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local char own_place_ = 0;

  bool enter_as_owner() noexcept {
    const Thread self = &own_place_;
    // relaxed: only this thread writes this name.
    if (owner_.load(std::memory_order_relaxed) != self) return false;
    // acquire: a thread that has ended may have been the owner by the same name.
    (void)inside_.load(std::memory_order_acquire);
    inside_.store(held, std::memory_order_relaxed);
    // For the compiler; the cores' order is the affair of who takes the lock from its owner (invariant 5).
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // acquire: what the lock guards is looked at afterwards.
    if (owner_.load(std::memory_order_acquire) != self) [[unlikely]] {
      let_go(inside_);
      return false;
    }
    holds_as_owner_ = true;
    return true;
  }
  void let_go(Word& word) noexcept {
    // release: pairs with the acquire of the next holder.
    word.store(free, std::memory_order_release);
    // For the compiler; the cores' order is the sleeper's affair (invariant 2).
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // relaxed: nothing is read because of it.
    if (sleepers_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake_one(word);
  }

  void lock_as_other() noexcept;
  bool try_lock_as_other() noexcept;
  bool take_state() noexcept;
  void disown() noexcept;
  [[nodiscard]] bool owner_is_out() const noexcept;
  void consider_owning() noexcept;
  template <typename Condition>
  void wait_until(const Condition& condition, Word& word) noexcept;
  void sleep(Word& word) noexcept;
  void wake_one(Word& word) noexcept;

  Word state_{free};
  Word inside_{free};
  std::atomic<Thread> owner_{nullptr};
  Word contenders_{0};
  Word sleepers_{0};
  bool holds_as_owner_ = false;  // the holder
  // Touched while `state_` is held: who has taken it so many times, one after the other; see invariant 7.
  Thread regular_ = nullptr;
  Thread disowned_ = nullptr;
  std::uint32_t times_ = 0;
};

}  // namespace parley::transport
