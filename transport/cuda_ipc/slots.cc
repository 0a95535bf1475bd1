#include "transport/cuda_ipc/slots.h"

#include <algorithm>
#include <new>
#include <utility>

namespace parley::transport::cuda_ipc {

using cuda::Code;

namespace {
// Then another slot is made, as long as there are not too many.
constexpr std::size_t looks_per_take = 4;
}  // namespace

Slots::~Slots() {
  const bool is_used = !are_passed();
  for (const auto& slot : slots_) {
    const cuda::DeviceScope scope(*port_.api(), slot->device);
    (void)port_.api()->destroy_event(slot->passed);
  }
  if (is_used) Semaphores::leave(std::move(semaphores_));
}

bool Slots::is_passed(const Slot& slot) const noexcept {
  const cuda::DeviceScope scope(*port_.api(), slot.device);
  return port_.api()->query(slot.passed) != Code::not_ready;
}

bool Slots::are_passed() const noexcept {
  return std::all_of(slots_.begin(), slots_.end(), [this](const auto& slot) {
    const bool is_done =
        slot->state == Slot::State::free || (semaphores_->is_reached(ready_of(slot->number)) &&
                                             semaphores_->is_reached(finished_of(slot->number)));
    return is_done && is_passed(*slot);
  });
}

// Of streams that users make, another one may have the name of one that is gone.
bool Slots::may_be_used(const Slot& slot, int device, cuda::Stream stream) const noexcept {
  if (slot.device != device) return false;
  const bool is_same_stream = stream == cuda::default_stream && slot.stream == cuda::default_stream;
  return is_same_stream || is_passed(slot);
}

Slot* Slots::take(int device, cuda::Stream stream) noexcept {
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

Slot* Slots::make(int device) noexcept {
  if (slots_.size() == most) return nullptr;
  cuda::Api& api = *port_.api();
  Slot made;
  made.state = Slot::State::held;
  made.number = static_cast<std::uint32_t>(slots_.size());
  made.device = device;
  if (api.create_event(made.passed) != Code::ok) return nullptr;
  try {
    free_.reserve(slots_.size() + 1);  // freeing must not fail
    slots_.push_back(std::make_unique<Slot>(made));
  } catch (const std::bad_alloc&) {
    (void)api.destroy_event(made.passed);
    return nullptr;
  }
  return slots_.back().get();
}

void Slots::free(Slot& slot, cuda::Stream stream) noexcept {
  const cuda::DeviceScope scope(*port_.api(), slot.device);
  (void)port_.api()->record(slot.passed, stream);  // what fails here has failed the stream
  slot.stream = stream;
  if (slot.block.memory != nullptr) {
    Port::Desk* const desk = port_.desk(slot.device);  // it is there, for the block is its own
    desk->blocks.give_back_after(std::exchange(slot.block, {}), stream);
  }
  slot.state = Slot::State::free;
  free_.push_back(&slot);
}

}  // namespace parley::transport::cuda_ipc
