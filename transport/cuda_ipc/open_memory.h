#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/cuda/api.h"

namespace parley::transport::cuda_ipc {

// Memory of other processes that this one has open: a process can open an allocation only once, but may be
// linked to its owner several times (in several worlds). Each acquire() that went well has its release().
// Thread-safety: any thread.

// Fails as Api::import_memory(). `device`, on which it lies, is entered.
cuda::Code acquire(cuda::Api& api, const cuda::MemoryHandle& handle, std::byte*& base) noexcept;
void release(cuda::Api& api, std::byte* base) noexcept;
// How often this process has closed an allocation: where one more has been, there may be room for another.
[[nodiscard]] std::uint64_t closings() noexcept;

}  // namespace parley::transport::cuda_ipc
