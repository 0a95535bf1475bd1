#include "transport/engine/engine_lock.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

#include "transport/base/spin.h"

namespace parley::transport {
namespace {

// A poller lets go of the lock once per pass, so a contender that spins this long gets it; one that went to
// sleep at once would find the lock taken again when it wakes.
constexpr int spins_before_sleep = 2000;
constexpr int spins_of_yield = 64;
constexpr timespec slice{.tv_sec = 0, .tv_nsec = 1'000'000};

// A full barrier on every core that runs a thread of this process. False: the kernel has none.
bool fence_all_threads() noexcept {
  static const bool is_registered =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  return is_registered && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

}  // namespace

void EngineLock::lock_contended() noexcept {
  contenders_.fetch_add(1, std::memory_order_relaxed);
  while (!spin()) sleep();
  contenders_.fetch_sub(1, std::memory_order_relaxed);
}

// Whether it has got the lock.
bool EngineLock::spin() noexcept {
  for (int spin = 0; spin < spins_before_sleep; ++spin) {
    if (state_.load(std::memory_order_relaxed) == free && try_lock()) return true;
    base::cpu_relax();
  }
  return false;
}

// Until somebody unlocks, or for no reason.
void EngineLock::sleep() noexcept {
  sleepers_.fetch_add(1, std::memory_order_relaxed);  // fence_all_threads() orders it
  const timespec* const limit = fence_all_threads() ? nullptr : &slice;
  syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, held, limit, nullptr, 0);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
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
