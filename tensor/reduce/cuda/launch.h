#pragma once

#include <span>
#include <type_traits>

#include "tensor/reduce/cuda/walk.h"
#include "transport/cuda/api.h"

namespace parley::tensor {

// Launches a kernel of kernel_image() with as many threads as the walk can use, up to 1024 blocks of 256: all
// that an H100 has room for. With more elements each thread takes several. Nothing for none.
[[nodiscard]] cuda::Code launch(cuda::Api& api, const char* name, const device::Walk& walk,
                                std::span<const std::byte> arguments, cuda::Stream stream) noexcept;

template <typename Arguments>
[[nodiscard]] cuda::Code launch(cuda::Api& api, const char* name, const device::Walk& walk,
                                const Arguments& arguments, cuda::Stream stream) noexcept {
  static_assert(std::is_trivially_copyable_v<Arguments>);
  return launch(api, name, walk, std::as_bytes(std::span(&arguments, 1)), stream);
}

}  // namespace parley::tensor
