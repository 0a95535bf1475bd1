#include "tensor/reduce/cuda/launch.h"

#include <algorithm>
#include <mutex>

#include "tensor/reduce/cuda/kernel_image.h"

namespace parley::tensor {
namespace {

constexpr std::uint64_t threads_of_block = 256;
constexpr std::uint64_t most_blocks = 1024;

// The kernel is not there: the api has not seen the image yet, or another thread is just adding it.
cuda::Code launch_first(cuda::Api& api, const cuda::Launch& what, cuda::Stream stream) noexcept {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const std::span<const std::byte> image = kernel_image();
  const cuda::Code code = api.launch(what, stream);
  if (code != cuda::Code::not_found || image.empty()) return code;
  if (const cuda::Code added = api.add_kernels(image); added != cuda::Code::ok) return added;
  return api.launch(what, stream);
}

}  // namespace

cuda::Code launch(cuda::Api& api, const char* name, const device::Walk& walk,
                  std::span<const std::byte> arguments, cuda::Stream stream) noexcept {
  const std::uint64_t most_useful = std::max(walk.vectors, walk.rest);
  if (most_useful == 0) return cuda::Code::ok;
  const std::uint64_t blocks = std::min((most_useful + threads_of_block - 1) / threads_of_block, most_blocks);
  const cuda::Launch what = {.name = name,
                             .blocks = static_cast<std::uint32_t>(blocks),
                             .threads = static_cast<std::uint32_t>(threads_of_block),
                             .arguments = arguments};
  const cuda::Code code = api.launch(what, stream);
  return code == cuda::Code::not_found ? launch_first(api, what, stream) : code;
}

}  // namespace parley::tensor
