#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "tests/simulated_device/handles.h"
#include "transport/base/unique_fd.h"
#include "transport/cuda/api.h"

namespace parley::cuda::testing {

// An event: it is recorded by a call, and reached when the stream comes there. Thread-safety: all.
class SimulatedEvent {
 public:
  virtual ~SimulatedEvent() = default;

  // Recorded from now on. What the stream is to do when it comes there.
  virtual std::function<void()> record() = 0;
  // Tells, as often as it is asked, whether what is recorded now has been reached; true if nothing ever was.
  // Later records change nothing about it.
  [[nodiscard]] virtual std::function<bool()> captured() const = 0;
  // Not supported by an event within this process.
  virtual Code make_handle(int physical_device, EventHandle& handle) const = 0;
};

[[nodiscard]] std::unique_ptr<SimulatedEvent> make_local_event();

// One page that processes share. Null: the system gives none.
// In flight it may be recorded once only: it counts records, and what is reached is the highest. That is
// stricter than CUDA, which keeps them apart, and what Parley does (an event is recorded again when the peer
// has finished).
[[nodiscard]] std::unique_ptr<SimulatedEvent> make_shared_event();
Code import_shared_event(const EventHandle& handle, std::unique_ptr<SimulatedEvent>& event);

}  // namespace parley::cuda::testing
