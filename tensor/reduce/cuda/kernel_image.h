#pragma once

#include <cstddef>
#include <span>

namespace parley::tensor {

// The compiled kernels, a fatbin as Api::add_kernels wants it: machine code for the H100 (sm_90), and PTX
// from which a driver makes that of any other from sm_75 on. Lives as long as the process. Empty in a build
// without CUDA.
[[nodiscard]] std::span<const std::byte> kernel_image() noexcept;

}  // namespace parley::tensor
