#pragma once

#include <vector>

#include "transport/cuda/api.h"

namespace parley::cuda {

// Recycles the events of one device that stay within this process: a steady state creates none.
// The device is entered for all calls, and when the pool dies; events that are out then are not destroyed.
// Thread-safety: none (the engine's lock).
class EventPool {
 public:
  explicit EventPool(Api& api) noexcept : api_(api) {}
  ~EventPool() {
    for (Event event : free_) (void)api_.destroy_event(event);
  }
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  // An event with any past: record it before anything waits for it. A failure is the driver's.
  Code take(Event& event) {
    if (free_.empty()) return api_.create_event(Api::EventUse::within_process, event);
    event = free_.back();
    free_.pop_back();
    return Code::ok;
  }
  // At any time: what waits for the event already waits for what was recorded, and not for what comes.
  void give_back(Event event) { free_.push_back(event); }

 private:
  Api& api_;
  std::vector<Event> free_;
};

}  // namespace parley::cuda
