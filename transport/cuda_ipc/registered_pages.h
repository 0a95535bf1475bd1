#pragma once

#include <cstddef>

#include "transport/cuda/api.h"

namespace parley::transport::cuda_ipc {

// Pages of the host that this process has registered with CUDA, counted: a page can be registered once, but
// both ends of a link within a process use the same. Each register_page() that went well has its
// unregister_page(). Thread-safety: any thread.

inline constexpr std::size_t page_bytes = 4096;

// Fails as Api::register_host(). `device` is entered.
cuda::Code register_page(cuda::Api& api, void* page, int device) noexcept;
void unregister_page(cuda::Api& api, void* page) noexcept;

}  // namespace parley::transport::cuda_ipc
