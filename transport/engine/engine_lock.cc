#include "transport/engine/engine_lock.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transport/base/spin.h"

namespace parley::transport {
namespace {

// A poller lets go of the lock once per pass, so a contender that spins this long gets it; one that went to
// sleep at once would find the lock taken again when it wakes.
constexpr int spins_before_sleep = 2000;
constexpr int spins_of_yield = 64;

}  // namespace

void EngineLock::lock_contended() noexcept {
  contenders_.fetch_add(1, std::memory_order_relaxed);
  // Who was woken takes the lock as `asleep`: the unlock that woke it has forgotten the other sleepers.
  // acquire: as in try_lock().
  const auto take_as_asleep = [this] { return state_.exchange(asleep, std::memory_order_acquire) == free; };
  for (bool slept = false;; slept = true) {
    for (int spin = 0; spin < spins_before_sleep; ++spin) {
      if (state_.load(std::memory_order_relaxed) == free && (slept ? take_as_asleep() : try_lock())) {
        contenders_.fetch_sub(1, std::memory_order_relaxed);
        return;
      }
      base::cpu_relax();
    }
    if (take_as_asleep()) {
      contenders_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, asleep, nullptr, nullptr, 0);
  }
}

void EngineLock::wake_one() noexcept {
  syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void EngineLock::yield() noexcept {
  unlock();
  for (int spin = 0; spin < spins_of_yield && contended(); ++spin) {
    if (state_.load(std::memory_order_relaxed) != free) break;
    base::cpu_relax();
  }
  // More threads than cores: the contender may need ours to run at all.
  if (contended() && state_.load(std::memory_order_relaxed) == free) sched_yield();
  lock();
}

}  // namespace parley::transport
