#include "transport/engine/engine_lock.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <utility>

#include "transport/base/spin.h"

namespace parley::transport {
namespace {

// A poller lets go of the lock once per pass, so a contender that spins this long gets it; one that went to
// sleep at once would find the lock taken again when it wakes.
constexpr int spins_before_sleep = 2000;
constexpr int spins_of_yield = 64;
constexpr timespec slice{.tv_sec = 0, .tv_nsec = 1'000'000};
// To take the lock from its owner costs some microseconds: threads that take turns shall own nothing.
constexpr std::uint32_t times_before_owning = 512;

bool register_for_fences() noexcept {
  static const bool is_registered =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  return is_registered;
}

// A full barrier on every core that runs a thread of this process. False: the kernel has none.
bool fence_all_threads() noexcept {
  return register_for_fences() && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

}  // namespace

EngineLock::EngineLock() noexcept {
  (void)register_for_fences();
}

[[gnu::hot]] void EngineLock::lock_as_other() noexcept {
  if (!take_state()) wait_until([this] { return take_state(); }, state_);
  disown();
  if (!owner_is_out()) wait_until([this] { return owner_is_out(); }, inside_);
  holds_as_owner_ = false;
  consider_owning();
}

bool EngineLock::try_lock_as_other() noexcept {
  // relaxed: a hint, which spares the owner the loss.
  if (inside_.load(std::memory_order_relaxed) != free || !take_state()) return false;
  disown();
  if (!owner_is_out()) {
    let_go(state_);
    return false;
  }
  holds_as_owner_ = false;
  consider_owning();
  return true;
}

bool EngineLock::take_state() noexcept {
  // relaxed: a hint, which spares the line's way here and back; the exchange decides.
  if (state_.load(std::memory_order_relaxed) != free) return false;
  std::uint32_t expected = free;
  // acquire: what the last holder wrote is ours to see. relaxed: who fails has learnt nothing.
  return state_.compare_exchange_strong(expected, held, std::memory_order_acquire, std::memory_order_relaxed);
}

// Now there is no owner; the last one may be inside for the last time. REQUIRES: `state_`.
[[gnu::hot]] void EngineLock::disown() noexcept {
  // relaxed, both: the barrier orders them.
  const Thread owner = owner_.load(std::memory_order_relaxed);
  if (owner == nullptr) return;
  owner_.store(nullptr, std::memory_order_relaxed);
  disowned_ = owner;
  while (!fence_all_threads()) sched_yield();  // it worked before, and fails only for want of memory
  times_ = 0;
}

// REQUIRES: disown(), by this thread or by one that let `state_` go since.
bool EngineLock::owner_is_out() const noexcept {
  // acquire: what the owner wrote is ours to see.
  return inside_.load(std::memory_order_acquire) == free;
}

// REQUIRES: the lock, by `state_`.
[[gnu::hot]] void EngineLock::consider_owning() noexcept {
  const Thread self = &own_place_;
  if (disowned_ == self) disowned_ = nullptr;
  if (std::exchange(regular_, self) != self) times_ = 0;
  if (++times_ < times_before_owning) return;
  times_ = 0;
  // relaxed: only the thread itself looks for its name without `state_`.
  if (disowned_ == nullptr && fence_all_threads()) owner_.store(self, std::memory_order_relaxed);
}

// `condition` may come to hold when `word` is let go.
template <typename Condition>
void EngineLock::wait_until(const Condition& condition, Word& word) noexcept {
  // relaxed, here and below: a count for hints, which contended() may see late.
  contenders_.fetch_add(1, std::memory_order_relaxed);
  for (int spin = 0; !condition(); ++spin) {
    if (spin % spins_before_sleep == spins_before_sleep - 1) sleep(word);
    base::cpu_relax();
  }
  contenders_.fetch_sub(1, std::memory_order_relaxed);
}

// Until `word` is let go, or for no reason.
void EngineLock::sleep(Word& word) noexcept {
  sleepers_.fetch_add(1, std::memory_order_relaxed);  // fence_all_threads() orders it
  const timespec* const limit = fence_all_threads() ? nullptr : &slice;
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, held, limit, nullptr, 0);
  // relaxed: who still finds us counted wakes nobody, at the price of a system call.
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

void EngineLock::wake_one(Word& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void EngineLock::yield() noexcept {
  unlock();
  for (int spin = 0; spin < spins_of_yield && contended(); ++spin) {
    // relaxed, both times: a hint; somebody has taken the turn.
    if (state_.load(std::memory_order_relaxed) != free) break;
    base::cpu_relax();
  }
  // More threads than cores: the contender may need ours to run at all.
  if (contended() && state_.load(std::memory_order_relaxed) == free) sched_yield();
  lock();
}

}  // namespace parley::transport
