#include "transport/base/parker.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace parley::base {
namespace {

// FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC time, which is std::chrono::steady_clock on Linux.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Deadline deadline) noexcept {
  timespec until{};
  timespec* limit = nullptr;
  if (!deadline.is_never()) {
    const auto ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.when().time_since_epoch()).count();
    until.tv_sec = static_cast<std::time_t>(ns / 1'000'000'000);
    until.tv_nsec = static_cast<long>(ns % 1'000'000'000);
    limit = &until;
  }
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, limit, nullptr, FUTEX_BITSET_MATCH_ANY);
}

}  // namespace

bool Parker::park(Deadline deadline) noexcept {
  std::uint32_t seen = empty;
  // acquire: what the unparking thread wrote before unpark() must be visible to the caller.
  if (!state_.compare_exchange_strong(seen, parked, std::memory_order_acquire)) {
    // The permit was there. An exchange, not a store: another unpark() may have come since the load, and a
    // store would drop its permit without making what it published visible.
    state_.exchange(empty, std::memory_order_acquire);
    return true;
  }
  // Whichever of these operations reads the permit makes visible what was written before it; so all acquire.
  while (state_.load(std::memory_order_acquire) == parked) {
    if (deadline.expired()) {
      // A permit that arrives now is either seen by this exchange or kept for the next park().
      std::uint32_t still = parked;
      return !state_.compare_exchange_strong(still, empty, std::memory_order_acquire) &&
             state_.exchange(empty, std::memory_order_acquire) == permit;
    }
    futex_wait(state_, parked, deadline);
  }
  return state_.exchange(empty, std::memory_order_acquire) == permit;
}

void Parker::unpark() noexcept {
  // release: pairs with the acquire in park().
  if (state_.exchange(permit, std::memory_order_release) == parked)
    syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace parley::base
