#pragma once

#include <parley/device.h>

#include <cstddef>
#include <memory>

// Memory of devices, for tensors: what is asked of CUDA, with errors in words.
namespace parley::tensor {

// Throws UsageError where there is no such device, or `data` is not its memory: "from_blob: ...".
void require_memory_of(const char* operation, const void* data, Device device);

// At least one byte. Throws UsageError where there is no such device, std::bad_alloc when it has no more.
std::shared_ptr<std::byte> allocate_on(Device device, std::size_t bytes);
// Of the host, pinned.
std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes);

// In the order of the current stream of `device`, and done when they return. Throw SystemError.
void fill_with_zeros(std::byte* memory, std::size_t bytes, Device device);
void copy(std::byte* to, const std::byte* from, std::size_t bytes, Device device);

}  // namespace parley::tensor
