#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

namespace parley::cuda::testing {

// An event: it is recorded by a call, and reached when the stream comes there. Thread-safety: all.
class SimulatedEvent {
 public:
  // Recorded from now on. What the stream is to do when it comes there.
  std::function<void()> record();
  // Tells, as often as it is asked, whether what is recorded now has been reached; true if nothing ever was.
  // Later records change nothing about it.
  [[nodiscard]] std::function<bool()> captured() const;

 private:
  mutable std::mutex mutex_;  // guards latest_
  std::shared_ptr<const std::atomic<bool>>
      latest_;  // whether the latest record was reached; null: there is none
};

}  // namespace parley::cuda::testing
