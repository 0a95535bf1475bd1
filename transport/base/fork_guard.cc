#include "transport/base/fork_guard.h"

#include <pthread.h>

namespace parley::base {

std::atomic<std::uint64_t> ForkGuard::generation_{0};

// relaxed, both: the number changes in a child only, while that has one thread, and fork() orders its view.
ForkGuard::ForkGuard() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { generation_.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
  mine_ = generation_.load(std::memory_order_relaxed);
}

}  // namespace parley::base
