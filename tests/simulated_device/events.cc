#include "tests/simulated_device/events.h"

namespace parley::cuda::testing {

std::function<void()> SimulatedEvent::record() {
  auto reached = std::make_shared<std::atomic<bool>>(false);
  const std::lock_guard lock(mutex_);
  latest_ = reached;
  // release: who sees it reached sees what the stream did before. Pairs with captured().
  return [reached] { reached->store(true, std::memory_order_release); };
}

std::function<bool()> SimulatedEvent::captured() const {
  const std::lock_guard lock(mutex_);
  if (!latest_) return [] { return true; };
  return [reached = latest_] { return reached->load(std::memory_order_acquire); };
}

}  // namespace parley::cuda::testing
