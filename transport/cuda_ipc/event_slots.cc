#include "transport/cuda_ipc/event_slots.h"

#include <algorithm>
#include <new>
#include <utility>

namespace parley::transport::cuda_ipc {

using cuda::Code;

EventSlots::~EventSlots() {
  for (const auto& slot : slots_) {
    cuda::Api& api = *port_.api();
    const cuda::DeviceScope scope(api, slot->device);
    // The peer's stream is still to wait for the one and to reach the other: they are left to the process's
    // end.
    if (api.query(slot->finished) == Code::not_ready) continue;
    (void)api.destroy_event(slot->ready);
    (void)api.destroy_event(slot->finished);
  }
}

Slot* EventSlots::take(int device) noexcept {
  const auto found = std::find_if(free_.rbegin(), free_.rend(),
                                  [device](const Slot* slot) { return slot->device == device; });
  if (found != free_.rend()) {
    Slot* const slot = *found;
    free_.erase(std::next(found).base());
    slot->state = Slot::State::held;
    return slot;
  }
  if (slots_.size() == most) return nullptr;
  cuda::Api& api = *port_.api();
  Slot made;
  made.state = Slot::State::held;
  made.device = device;
  if (api.create_event(use_, made.ready) != Code::ok) return nullptr;
  if (api.create_event(use_, made.finished) != Code::ok) {
    (void)api.destroy_event(made.ready);
    return nullptr;
  }
  try {
    free_.reserve(slots_.size() + 1);  // freeing must not fail
    slots_.push_back(std::make_unique<Slot>(made));
  } catch (const std::bad_alloc&) {
    (void)api.destroy_event(made.ready);
    (void)api.destroy_event(made.finished);
    return nullptr;
  }
  return slots_.back().get();
}

void EventSlots::free(Slot& slot, cuda::Stream stream) noexcept {
  if (slot.block.memory != nullptr) {
    const cuda::DeviceScope scope(*port_.api(), slot.device);
    Port::Desk* const desk = port_.desk(slot.device);  // it is there, for the block is its own
    desk->blocks.give_back_after(std::exchange(slot.block, {}), stream);
  }
  slot.state = Slot::State::free;
  free_.push_back(&slot);
}

std::uint32_t EventSlots::index_of(const Slot& slot) const noexcept {
  const auto found =
      std::find_if(slots_.begin(), slots_.end(), [&](const auto& one) { return one.get() == &slot; });
  return static_cast<std::uint32_t>(found - slots_.begin());
}

}  // namespace parley::transport::cuda_ipc
