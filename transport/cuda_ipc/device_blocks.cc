#include "transport/cuda_ipc/device_blocks.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace parley::transport::cuda_ipc {

using cuda::Code;

DeviceBlocks::~DeviceBlocks() {
  while (!free_.empty()) {
    drop(free_.back());
    free_.pop_back();
  }
}

DeviceBlocks::Block DeviceBlocks::take(std::size_t bytes, cuda::Stream stream) noexcept {
  // One that will not be kept need not fit others.
  const std::size_t size = bytes > bound_ ? bytes : std::bit_ceil(std::max(bytes, least_bytes));
  const auto found =
      std::find_if(free_.begin(), free_.end(), [size](const Block& block) { return block.bytes == size; });
  if (found != free_.end()) {
    Block block = *found;
    free_.erase(found);
    kept_bytes_ -= block.bytes;
    if (block.after != nullptr) {
      if (api_.wait(stream, block.after) != Code::ok) return drop(block), Block();
      events_.give_back(std::exchange(block.after, nullptr));
    }
    return block;
  }
  try {
    free_.reserve(count_ + 1);  // giving back must not fail
  } catch (const std::bad_alloc&) {
    return {};
  }
  Block block{.bytes = size};
  Code code = api_.allocate(size, block.memory);
  for (; code == Code::out_of_memory && !free_.empty(); code = api_.allocate(size, block.memory)) {
    kept_bytes_ -= free_.front().bytes;
    drop(free_.front());
    free_.erase(free_.begin());
  }
  if (code != Code::ok) return {};
  ++count_;
  return block;
}

void DeviceBlocks::give_back_after(Block block, cuda::Stream stream) noexcept {
  const bool is_kept = kept_bytes_ + block.bytes <= bound_ && events_.take(block.after) == Code::ok;
  if (!is_kept || api_.record(block.after, stream) != Code::ok) return drop(block);
  free_.push_back(block);
  kept_bytes_ += block.bytes;
}

// Freeing waits for what still reads it.
void DeviceBlocks::drop(const Block& block) noexcept {
  (void)api_.free(block.memory);
  if (block.after != nullptr) events_.give_back(block.after);
  --count_;
}

}  // namespace parley::transport::cuda_ipc
