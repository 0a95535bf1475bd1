#include "tensor/reduce/cuda/kernel_image.h"

#if PARLEY_HAS_CUDA
#include <parley_kernel_image.inc>  // made by the build: an array of that name
#endif

namespace parley::tensor {

std::span<const std::byte> kernel_image() noexcept {
#if PARLEY_HAS_CUDA
  return std::as_bytes(std::span(parley_kernel_image));
#else
  return {};
#endif
}

}  // namespace parley::tensor
