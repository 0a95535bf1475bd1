#include "transport/cuda_ipc/peer_view.h"

#include <algorithm>
#include <utility>

#include "transport/base/log.h"
#include "transport/cuda_ipc/event_slots.h"
#include "transport/cuda_ipc/exports.h"
#include "transport/cuda_ipc/open_memory.h"
#include "transport/cuda_ipc/port.h"

namespace parley::transport::cuda_ipc {

using cuda::Code;

PeerView::~PeerView() {
  for (auto& [number, memory] : memories_) close(memory);
  for (Memory& memory : forgotten_) close(memory);
  for (const auto& [number, slot] : slots_) {
    if (slot.ready == nullptr) continue;
    const cuda::DeviceScope scope(*port_.api(), slot.device);
    (void)port_.api()->destroy_event(slot.ready);
    (void)port_.api()->destroy_event(slot.finished);
  }
}

bool PeerView::take(std::span<const std::byte> note) {
  if (const auto memory = read_note<MemoryNote>(note)) {
    if (memories_.size() == Exports::most) return false;
    Memory seen;
    seen.note = *memory;
    return memories_.try_emplace(memory->number, seen).second;
  }
  if (const auto slot = read_note<SlotNote>(note)) {
    if (slot->number >= EventSlots::most) return false;
    Slot seen;
    seen.note = *slot;
    return slots_.try_emplace(slot->number, seen).second;
  }
  const auto forgotten = read_note<ForgetNote>(note);
  return forgotten && forget(forgotten->number);
}

bool PeerView::forget(std::uint32_t number) {
  const auto found = memories_.find(number);
  if (found == memories_.end()) return false;
  if (found->second.base != nullptr) forgotten_.push_back(found->second);
  memories_.erase(found);
  sweep();
  return true;
}

std::optional<PeerView::Source> PeerView::find(const Key& key, std::size_t bytes) noexcept {
  const auto found = memories_.find(key.memory);
  const auto found_slot = slots_.find(key.slot);
  if (found == memories_.end() || found_slot == slots_.end()) return std::nullopt;
  Memory& memory = found->second;
  Slot& slot = found_slot->second;
  const bool fits = key.offset <= memory.note.bytes && bytes <= memory.note.bytes - key.offset;
  if (!fits || !open(memory) || !open(slot)) return std::nullopt;
  return Source{memory.base + key.offset, slot.device, slot.ready, slot.finished};
}

void PeerView::note_read(const Key& key) noexcept {
  const auto found = memories_.find(key.memory);
  if (found == memories_.end()) return;
  Memory& memory = found->second;
  constexpr std::size_t many = 8;  // slots that have long been used for something else may be among them
  if (memory.readers.count() >= many && !is_read(memory)) memory.readers.reset();
  memory.readers.set(key.slot);
}

bool PeerView::is_unread() const noexcept {
  return std::none_of(memories_.begin(), memories_.end(),
                      [this](const auto& entry) { return is_read(entry.second); }) &&
         std::none_of(forgotten_.begin(), forgotten_.end(),
                      [this](const Memory& memory) { return is_read(memory); });
}

// The peer says how large it is, and CUDA what was opened.
bool PeerView::is_as_large(const Memory& memory) const noexcept {
  cuda::PointerFacts facts;
  const Code asked = port_.api()->facts_of(memory.base, facts);
  return asked != Code::ok || facts.bytes == 0 || memory.note.bytes <= facts.bytes;
}

bool PeerView::open(Memory& memory) noexcept {
  if (memory.base != nullptr) return true;
  if (memory.cannot_be_opened) return false;
  memory.device = port_.device_of(memory.note.device);
  if (memory.device >= 0) {
    const cuda::DeviceScope scope(*port_.api(), memory.device);
    Code code = acquire(*port_.api(), memory.note.handle, memory.base);
    if (code == Code::out_of_memory && close_unread())
      code = acquire(*port_.api(), memory.note.handle, memory.base);
    if (code == Code::ok && is_as_large(memory)) return true;
    if (code == Code::ok) {
      release(*port_.api(), memory.base);
      code = Code::invalid_value;
    }
    memory.base = nullptr;
    PARLEY_LOG(info, "cuda",
               "device memory of a rank of this host cannot be opened: ", port_.api()->describe(code),
               "; messages from it go by way of the host");
  } else {
    PARLEY_LOG(info, "cuda",
               "a rank of this host uses a device that is not visible here; messages from it go "
               "by way of the host");
  }
  memory.cannot_be_opened = true;
  return false;
}

bool PeerView::open(Slot& slot) noexcept {
  if (slot.ready != nullptr) return true;
  slot.device = port_.device_of(slot.note.device);
  if (slot.device < 0) return false;
  cuda::Api& api = *port_.api();
  const cuda::DeviceScope scope(api, slot.device);
  cuda::Event ready = nullptr;
  if (api.import_event(slot.note.ready, ready) != Code::ok) return false;
  if (api.import_event(slot.note.finished, slot.finished) != Code::ok) {
    (void)api.destroy_event(ready);
    return false;
  }
  slot.ready = ready;
  return true;
}

// True: there is more room for others now.
bool PeerView::close_unread() noexcept {
  bool has_closed = false;
  for (auto& [number, memory] : memories_) {
    if (memory.base == nullptr || is_read(memory)) continue;
    close(memory);
    has_closed = true;
  }
  return has_closed;
}

bool PeerView::is_read(const Memory& memory) const noexcept {
  if (memory.readers.none()) return false;
  return std::any_of(slots_.begin(), slots_.end(), [&](const auto& entry) {
    const auto& [number, slot] = entry;
    if (slot.finished == nullptr || !memory.readers.test(number)) return false;
    const cuda::DeviceScope scope(*port_.api(), slot.device);
    return port_.api()->query(slot.finished) == Code::not_ready;
  });
}

void PeerView::close(Memory& memory) noexcept {
  if (memory.base == nullptr) return;
  const cuda::DeviceScope scope(*port_.api(), memory.device);
  release(*port_.api(), std::exchange(memory.base, nullptr));
}

// Closes what was forgotten and is not read any more.
void PeerView::sweep() noexcept {
  std::erase_if(forgotten_, [this](Memory& memory) {
    if (is_read(memory)) return false;
    close(memory);
    return true;
  });
}

bool PeerView::close_all() noexcept {
  for (auto entry = memories_.begin(); entry != memories_.end();) {
    Memory& memory = entry->second;
    if (memory.base != nullptr && is_read(memory)) {
      ++entry;
      continue;
    }
    close(memory);
    entry = memories_.erase(entry);
  }
  sweep();
  return memories_.empty() && forgotten_.empty();
}

}  // namespace parley::transport::cuda_ipc
