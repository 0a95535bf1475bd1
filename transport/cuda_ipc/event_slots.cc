#include "transport/cuda_ipc/event_slots.h"

#include <algorithm>
#include <new>
#include <utility>

namespace parley::transport::cuda_ipc {

using cuda::Code;

namespace {
// Then another slot is made, as long as there are not too many.
constexpr std::size_t looks_per_take = 4;
}  // namespace

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

bool EventSlots::is_reached(const Slot& slot) const noexcept {
  cuda::Api& api = *port_.api();
  const cuda::DeviceScope scope(api, slot.device);
  return api.query(slot.ready) != Code::not_ready && api.query(slot.finished) != Code::not_ready;
}

bool EventSlots::are_reached() const noexcept {
  return std::all_of(slots_.begin(), slots_.end(), [this](const auto& slot) { return is_reached(*slot); });
}

// Of streams that users make, another one may have the name of one that is gone.
bool EventSlots::may_be_used(const Slot& slot, int device, cuda::Stream stream) const noexcept {
  if (slot.device != device) return false;
  const bool is_same_stream = stream == cuda::default_stream && slot.stream == cuda::default_stream;
  return !slot.was_taken || is_same_stream || is_reached(slot);
}

Slot* EventSlots::take(int device, cuda::Stream stream) noexcept {
  const auto looks = slots_.size() == most ? free_.size() : std::min(free_.size(), looks_per_take);
  const auto end = free_.begin() + static_cast<std::ptrdiff_t>(looks);
  const auto found =
      std::find_if(free_.begin(), end, [&](const Slot* slot) { return may_be_used(*slot, device, stream); });
  if (found == end) {
    std::rotate(free_.begin(), end, free_.end());  // others are looked at the next time
    return make(device);
  }
  Slot* const slot = *found;
  free_.erase(found);
  slot->state = Slot::State::held;
  return slot;
}

Slot* EventSlots::make(int device) noexcept {
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
  slot.was_taken = slot.state == Slot::State::taken || slot.state == Slot::State::pulled;
  slot.state = Slot::State::free;
  free_.push_back(&slot);
}

std::uint32_t EventSlots::index_of(const Slot& slot) const noexcept {
  const auto found =
      std::find_if(slots_.begin(), slots_.end(), [&](const auto& one) { return one.get() == &slot; });
  return static_cast<std::uint32_t>(found - slots_.begin());
}

}  // namespace parley::transport::cuda_ipc
