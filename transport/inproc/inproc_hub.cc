#include "transport/inproc/inproc_hub.h"

#include <utility>

namespace parley::transport {

void InprocPort::signal() noexcept {
  const std::lock_guard lock(mutex_);
  // relaxed: what was signalled is ordered by the mutex of the lane or of this port; see consume_signal().
  signalled_.store(true, std::memory_order_relaxed);
  if (!std::exchange(armed_, false) || doorbell_ == nullptr) return;
  // Under the mutex, so that retire() knows the doorbell unused when it returns.
  doorbell_->ring();
}

bool InprocPort::offer(InprocOffer offer) {
  {
    const std::lock_guard lock(mutex_);
    if (!accepting_) return false;
    offers_.push_back(std::move(offer));
  }
  signal();
  return true;
}

bool InprocPort::consume_signal() noexcept {
  // relaxed: a stale false costs one more poll; arm() looks under the mutex and cannot be stale.
  if (!signalled_.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(mutex_);
  armed_ = false;
  return signalled_.exchange(false, std::memory_order_relaxed);  // relaxed: under the mutex
}

bool InprocPort::arm() noexcept {
  const std::lock_guard lock(mutex_);
  if (signalled_.load(std::memory_order_relaxed)) return false;  // relaxed: under the mutex
  armed_ = true;
  return true;
}

std::vector<InprocOffer> InprocPort::take_offers() noexcept {
  const std::lock_guard lock(mutex_);
  return std::exchange(offers_, {});
}

void InprocPort::stop_accepting() noexcept {
  const std::lock_guard lock(mutex_);
  accepting_ = false;
}

void InprocPort::retire() noexcept {
  const std::lock_guard lock(mutex_);
  accepting_ = false;
  doorbell_ = nullptr;
}

std::uint64_t InprocHub::enter(std::shared_ptr<InprocPort> port) {
  const std::lock_guard lock(mutex_);
  ports_.emplace(++last_number_, std::move(port));
  return last_number_;
}

void InprocHub::leave(std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  ports_.erase(number);
}

std::shared_ptr<InprocPort> InprocHub::find(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto found = ports_.find(number);
  return found == ports_.end() ? nullptr : found->second;
}

}  // namespace parley::transport
