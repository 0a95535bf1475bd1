#include "transport/cuda_ipc/peer_view.h"

#include <algorithm>
#include <utility>

#include "transport/base/log.h"
#include "transport/cuda_ipc/exports.h"
#include "transport/cuda_ipc/open_memory.h"
#include "transport/cuda_ipc/port.h"

namespace parley::transport::cuda_ipc {

using cuda::Code;

namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};

// What is closed makes room. Also where something is mapped already, as CUDA says: most likely it is what was
// forgotten and is still open.
bool is_for_want_of_room(Code code) noexcept {
  return code == Code::out_of_memory || code == Code::already_mapped;
}

}  // namespace

PeerView::~PeerView() {
  for (auto& [number, memory] : memories_) close(memory);
  for (Memory& memory : forgotten_) close(memory);
  bool is_used = has_unknown_use_;
  for (const auto& [slot, use] : uses_) {
    const cuda::DeviceScope scope(*port_.api(), use.device);
    is_used |= is_under_way(use);
    (void)port_.api()->destroy_event(use.passed);
  }
  if (is_used) Semaphores::leave(std::move(semaphores_));
}

bool PeerView::take(std::span<const std::byte> note) {
  if (const auto memory = read_note<MemoryNote>(note)) {
    if (memories_.size() == Exports::most) return false;
    Memory seen;
    seen.note = *memory;
    return memories_.try_emplace(memory->number, seen).second;
  }
  const auto forgotten = read_note<ForgetNote>(note);
  return forgotten && forget(forgotten->number);
}

bool PeerView::forget(std::uint32_t number) {
  const auto found = memories_.find(number);
  if (found == memories_.end()) return false;
  if (found->second.base != nullptr) forgotten_.push_back(found->second);
  memories_.erase(found);
  close_forgotten();
  return true;
}

std::byte* PeerView::find(const Key& key, std::size_t bytes, int device) noexcept {
  const auto found = memories_.find(key.memory);
  if (found == memories_.end() || key.slot >= Slots::most) return nullptr;
  Memory& memory = found->second;
  const bool fits = key.offset <= memory.note.bytes && bytes <= memory.note.bytes - key.offset;
  if (!fits || !open(memory, device)) return nullptr;
  return memory.base + key.offset;
}

bool PeerView::is_of(const Key& key, int device) const noexcept {
  const auto found = memories_.find(key.memory);
  return found != memories_.end() && may_be_opened(found->second) &&
         port_.device_of(found->second.note.device) == device;
}

bool PeerView::shows_memory_of(int device) const noexcept {
  return std::any_of(memories_.begin(), memories_.end(),
                     [&](const auto& entry) { return port_.device_of(entry.second.note.device) == device; });
}

void PeerView::note_use(const Key& key, int device, cuda::Stream stream) noexcept try {
  cuda::Api& api = *port_.api();
  const cuda::DeviceScope scope(api, device);
  auto use = uses_.find(key.slot);
  if (use == uses_.end() || use->second.device != device) {
    cuda::Event made = nullptr;
    if (api.create_event(made) != Code::ok) return (void)(has_unknown_use_ = true);
    if (use != uses_.end()) {
      has_unknown_use_ |= is_under_way(use->second);
      const cuda::DeviceScope there(api, use->second.device);
      (void)api.destroy_event(use->second.passed);
    }
    use = uses_.insert_or_assign(key.slot, Use{device, made}).first;
  }
  (void)api.record(use->second.passed, stream);
  const auto found = memories_.find(key.memory);
  if (found == memories_.end()) return;
  Memory& memory = found->second;
  constexpr std::size_t many = 8;  // slots that have long been used for something else may be among them
  if (memory.users.count() >= many && !is_used(memory)) memory.users.reset();
  memory.users.set(key.slot);
} catch (const std::bad_alloc&) {
  has_unknown_use_ = true;  // the driver waits when it closes the memory
}

bool PeerView::is_unused() const noexcept {
  return std::none_of(uses_.begin(), uses_.end(),
                      [this](const auto& entry) { return is_under_way(entry.second); });
}

bool PeerView::is_under_way(const Use& use) const noexcept {
  const cuda::DeviceScope scope(*port_.api(), use.device);
  return port_.api()->query(use.passed) == Code::not_ready;
}

// The peer says how large it is, and CUDA what was opened.
bool PeerView::is_as_large(const Memory& memory) const noexcept {
  cuda::PointerFacts facts;
  const Code asked = port_.api()->facts_of(memory.base, facts);
  return asked != Code::ok || facts.bytes == 0 || memory.note.bytes <= facts.bytes;
}

bool PeerView::may_be_opened(const Memory& memory) noexcept {
  return memory.opens_after == 0 || memory.opens_after <= closings();
}

bool PeerView::open(Memory& memory, int device) noexcept {
  if (memory.base != nullptr) return true;
  if (!may_be_opened(memory)) return false;
  if (port_.device_of(memory.note.device) < 0) {
    PARLEY_LOG(info, "cuda",
               "a rank of this host uses a device that is not visible here; messages from it go "
               "by way of the host");
    memory.opens_after = never;
    return false;
  }
  const Code code = map(memory, device);
  if (code == Code::ok) return true;
  memory.base = nullptr;
  memory.opens_after = is_for_want_of_room(code) ? closings() + 1 : never;
  PARLEY_LOG(info, "cuda",
             "device memory of a rank of this host cannot be opened: ", port_.api()->describe(code),
             "; messages from it go by way of the host");
  return false;
}

// Where there is no room, first what nobody needs any more makes some, then what would have to be opened
// again; that but for the first time, or several that find none would close all others again and again.
Code PeerView::map(Memory& memory, int device) noexcept {
  cuda::Api& api = *port_.api();
  const auto acquire_for = [&](int opener) { return acquire(api, memory.note.handle, opener, memory.base); };
  const auto acquire_it = [&] {
    const Code code = acquire_for(device);
    // Where no way leads from one device to the other, the owner's has one to its own.
    const int owner = port_.device_of(memory.note.device);
    const bool is_cut_off = code != Code::ok && !is_for_want_of_room(code) && owner != device;
    return is_cut_off ? acquire_for(owner) : code;
  };
  Code code = acquire_it();
  if (is_for_want_of_room(code) && close_forgotten()) code = acquire_it();
  const bool is_first_time = memory.opens_after == 0;
  if (is_for_want_of_room(code) && is_first_time && close_unused()) code = acquire_it();
  if (code != Code::ok || is_as_large(memory)) return code;
  release(api, memory.base);
  return Code::invalid_value;
}

bool PeerView::close_unused() noexcept {
  bool has_closed = false;
  for (auto& [number, memory] : memories_) {
    if (memory.base == nullptr || is_used(memory)) continue;
    close(memory);
    has_closed = true;
  }
  return has_closed;
}

bool PeerView::is_used(const Memory& memory) const noexcept {
  if (memory.users.none()) return false;
  return std::any_of(uses_.begin(), uses_.end(), [&](const auto& entry) {
    return memory.users.test(entry.first) && is_under_way(entry.second);
  });
}

void PeerView::close(Memory& memory) noexcept {
  if (memory.base != nullptr) release(*port_.api(), std::exchange(memory.base, nullptr));
}

bool PeerView::close_forgotten() noexcept {
  const auto closed = std::erase_if(forgotten_, [this](Memory& memory) {
    if (is_used(memory)) return false;
    close(memory);
    return true;
  });
  return closed != 0;
}

bool PeerView::close_all() noexcept {
  for (auto entry = memories_.begin(); entry != memories_.end();) {
    Memory& memory = entry->second;
    if (memory.base != nullptr && is_used(memory)) {
      ++entry;
      continue;
    }
    close(memory);
    entry = memories_.erase(entry);
  }
  close_forgotten();
  return memories_.empty() && forgotten_.empty() && is_unused();
}

}  // namespace parley::transport::cuda_ipc
