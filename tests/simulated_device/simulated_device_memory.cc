// The calls about memory: what is allocated, copied, handed to others, and worked on by kernels.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "tests/simulated_device/simulated_device.h"

namespace parley::cuda::testing {

using Origin = Memory::Origin;

// For tests
// -----------------------------------------------------------------------------------------------------

Code SimulatedDevice::allocate_pool_memory(std::size_t bytes, std::byte*& memory) {
  const int device = current_device();
  return device < 0 ? Code::invalid_context : memory_.allocate(Origin::own_pool, device, bytes, memory);
}

Code SimulatedDevice::allocate_managed(std::size_t bytes, std::byte*& memory) {
  const int device = current_device();
  return device < 0 ? Code::invalid_context : memory_.allocate(Origin::managed, device, bytes, memory);
}

std::byte* SimulatedDevice::reach(const void* device_address, std::size_t bytes) const {
  const std::optional<Memory::Window> window = memory_.reach(device_address, bytes);
  return window && window->kept ? window->bytes : nullptr;
}

std::size_t SimulatedDevice::live_allocations() const {
  return memory_.count({Origin::own, Origin::own_pool, Origin::pinned, Origin::managed});
}

std::size_t SimulatedDevice::open_imports() const {
  return memory_.count({Origin::imported});
}

// Allocations
// ---------------------------------------------------------------------------------------------------

Code SimulatedDevice::allocate(std::size_t bytes, std::byte*& memory) noexcept {
  int device = -1;
  if (const Code code = begin(Call::allocate, device); code != Code::ok) return code;
  return memory_.allocate(Origin::own, device, bytes, memory);
}

Code SimulatedDevice::free(std::byte* memory) noexcept {
  int device = -1;
  if (const Code code = begin(Call::free, device); code != Code::ok) return code;
  drain(device);
  return memory_.release(memory, device, {Origin::own, Origin::own_pool, Origin::managed});
}

Code SimulatedDevice::allocate_pinned(std::size_t bytes, std::byte*& memory) noexcept {
  int device = -1;
  if (const Code code = begin(Call::allocate_pinned, device); code != Code::ok) return code;
  return memory_.allocate(Origin::pinned, -1, bytes, memory);
}

Code SimulatedDevice::free_pinned(std::byte* memory) noexcept {
  int device = -1;
  if (const Code code = begin(Call::free_pinned, device); code != Code::ok) return code;
  drain(-1);
  return memory_.release(memory, -1, {Origin::pinned});
}

Code SimulatedDevice::facts_of(const void* address, PointerFacts& facts) noexcept {
  if (const Code code = calls_.begin(Call::facts_of); code != Code::ok) return code;
  memory_.facts_of(address, facts);
  return Code::ok;
}

// Copies
// --------------------------------------------------------------------------------------------------------

Code SimulatedDevice::register_host(void* memory, std::size_t bytes) noexcept {
  int device = -1;
  if (const Code code = begin(Call::register_host, device); code != Code::ok) return code;
  if (registration_of(memory) != nullptr) return Code::invalid_value;
  const std::lock_guard lock(mutex_);
  registrations_.push_back(
      std::make_shared<const Registration>(Registration{reinterpret_cast<std::uintptr_t>(memory), bytes}));
  return Code::ok;
}

// One that a stream is still to use stays, and is counted: CUDA's device would find nothing there.
Code SimulatedDevice::unregister_host(void* memory) noexcept {
  int device = -1;
  if (const Code code = begin(Call::unregister_host, device); code != Code::ok) return code;
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(registrations_.begin(), registrations_.end(), [&](const auto& each) {
    return each->begin == reinterpret_cast<std::uintptr_t>(memory);
  });
  if (found == registrations_.end() || found->use_count() != 1) return Code::invalid_value;
  registrations_.erase(found);
  return Code::ok;
}

bool SimulatedDevice::is_pageable(const void* address) const {
  const std::optional<Memory::Window> window = memory_.reach(address, 1);
  return window && !window->kept;
}

Code SimulatedDevice::copy(void* to, const void* from, std::size_t bytes, Stream stream) noexcept {
  Place place;
  if (const Code code = begin(Call::copy, stream, place); code != Code::ok) return code;
  if (bytes == 0) return Code::ok;
  if (memory_.is_imported_for_another(to, place.device) ||
      memory_.is_imported_for_another(from, place.device))
    ++staged_copies_;
  enqueue(place, [this, to, from, bytes] {
    const auto target = memory_.reach(to, bytes);
    const auto source = memory_.reach(from, bytes);
    if (!target || !source) return Code::illegal_address;
    std::memmove(target->bytes, source->bytes, bytes);
    return Code::ok;
  });
  if (!is_pageable(to) && !is_pageable(from)) return Code::ok;
  ++waiting_copies_;
  place.work->drain();
  return failure_of(place.device);
}

Code SimulatedDevice::fill(void* to, std::uint8_t value, std::size_t bytes, Stream stream) noexcept {
  Place place;
  if (const Code code = begin(Call::fill, stream, place); code != Code::ok) return code;
  if (bytes == 0) return Code::ok;
  enqueue(place, [this, to, value, bytes] {
    const auto target = memory_.reach(to, bytes);
    if (!target || !target->kept) return Code::illegal_address;
    std::memset(target->bytes, value, bytes);
    return Code::ok;
  });
  return Code::ok;
}

// Other processes
// -----------------------------------------------------------------------------------------------

Code SimulatedDevice::export_memory(std::byte* base, MemoryHandle& handle) noexcept {
  int device = -1;
  if (const Code code = begin(Call::export_memory, device); code != Code::ok) return code;
  return memory_.export_memory(base, device, handle);
}

Code SimulatedDevice::import_memory(const MemoryHandle& handle, std::byte*& base) noexcept {
  int device = -1;
  if (const Code code = begin(Call::import_memory, device); code != Code::ok) return code;
  return memory_.import_memory(handle, device, base);
}

Code SimulatedDevice::close_memory(std::byte* base) noexcept {
  int device = -1;
  if (const Code code = begin(Call::close_memory, device); code != Code::ok) return code;
  return memory_.release(base, device, {Origin::imported});
}

// Kernels
// -------------------------------------------------------------------------------------------------------

void* KernelMemory::reach(const void* device_address, std::size_t bytes) const {
  std::optional<Memory::Window> window = memory_.reach(device_address, bytes);
  if (!window || !window->kept) throw IllegalAddress();
  kept_.push_back(std::move(window->kept));
  return window->bytes;
}

void SimulatedDevice::add_kernel(std::string name, Kernel kernel) {
  const std::lock_guard lock(mutex_);
  kernels_[std::move(name)] = std::move(kernel);
}

Code SimulatedDevice::add_kernels(std::span<const std::byte>) noexcept {
  return calls_.begin(
      Call::add_kernels);  // images are for real devices: add_kernel() makes kernels known here
}

Code SimulatedDevice::launch(const Launch& what, Stream stream) noexcept {
  Place place;
  if (const Code code = begin(Call::launch, stream, place); code != Code::ok) return code;
  Kernel kernel;
  {
    const std::lock_guard lock(mutex_);
    const auto found = kernels_.find(what.name);
    if (found == kernels_.end()) return Code::not_found;
    kernel = found->second;
  }
  std::vector<std::byte> arguments(what.arguments.begin(), what.arguments.end());
  enqueue(place, [this, kernel = std::move(kernel), arguments = std::move(arguments)] {
    try {
      kernel(arguments, KernelMemory(memory_));
    } catch (const KernelMemory::IllegalAddress&) {
      return Code::illegal_address;
    }
    return Code::ok;
  });
  return Code::ok;
}

}  // namespace parley::cuda::testing
