#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "transport/cuda/api.h"

namespace parley::cuda {

// Recycles the events of one device that stay within this process: a steady state creates none.
// The device is entered for take(), and when the pool dies; events that are out then are not destroyed.
// Thread-safety: none (the engine's lock).
class EventPool {
 public:
  explicit EventPool(Api& api) noexcept : api_(api) {}
  ~EventPool() {
    for (Event event : free_) (void)api_.destroy_event(event);
  }
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  // An event with any past: record it before anything waits for it. A failure is the driver's, or no memory.
  Code take(Event& event) noexcept {
    if (free_.empty()) return make(event);
    event = free_.back();
    free_.pop_back();
    return Code::ok;
  }
  // At any time: what waits for the event already waits for what was recorded, and not for what comes.
  void give_back(Event event) noexcept { free_.push_back(event); }

 private:
  Code make(Event& event) noexcept try {
    free_.reserve(made_ + 1);  // giving back must not fail
    const Code code = api_.create_event(event);
    if (code == Code::ok) ++made_;
    return code;
  } catch (const std::bad_alloc&) {
    return Code::out_of_memory;
  }

  Api& api_;
  std::size_t made_ = 0;
  std::vector<Event> free_;  // with room for all that were made
};

}  // namespace parley::cuda
