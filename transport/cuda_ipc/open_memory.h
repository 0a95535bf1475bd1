#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/cuda/api.h"

namespace parley::transport::cuda_ipc {

// Memory of other processes that this one has open: a process can open an allocation only once, but may be
// linked to its owner several times (in several worlds). Each acquire() that went well has its release().
// Thread-safety: any thread.

// Opens it for copies of `device`, wherever it lies: those of others may go by way of the host. Fails as
// Api::import_memory().
cuda::Code acquire(cuda::Api& api, const cuda::MemoryHandle& handle, int device, std::byte*& base) noexcept;
void release(cuda::Api& api, std::byte* base) noexcept;
// How often this process has closed an allocation: where one more has been, there may be room for another.
[[nodiscard]] std::uint64_t closings() noexcept;

}  // namespace parley::transport::cuda_ipc
