#include "transport/base/fork_guard.h"

#include <pthread.h>

namespace parley::base {

std::atomic<std::uint64_t> ForkGuard::generation_{0};

ForkGuard::ForkGuard() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { generation_.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
  mine_ = generation_.load(std::memory_order_relaxed);
}

}  // namespace parley::base
