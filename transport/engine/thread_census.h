#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace parley::transport {

// Counts the living threads that have used an engine. A rank is stuck for certain only when all of them wait;
// a thread that computes may still send what another one waits for. Thread-safety: safe. Cost of enter() but
// for a thread's first time: two loads.
class ThreadCensus {
 public:
  ThreadCensus();
  void enter() {
    if (last_serial != serial_) register_thread();
  }
  [[nodiscard]] std::size_t living() const noexcept { return count_->load(std::memory_order_relaxed); }

 private:
  void register_thread();
  static thread_local std::uint64_t last_serial;  // the census this thread entered last
  std::uint64_t serial_;
  std::shared_ptr<std::atomic<std::size_t>> count_;
};

}  // namespace parley::transport
