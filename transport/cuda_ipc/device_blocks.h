#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "transport/cuda/api.h"
#include "transport/cuda/event_pool.h"

namespace parley::transport::cuda_ipc {

// Memory of one device that can be shown to other processes, recycled: for messages whose own memory cannot
// (that of stream-ordered pools), and for partial results. Blocks are powers of two from 1 MiB on; up to a
// bound they are kept, and what is more is freed as soon as it comes back, which waits for the device. One
// that is larger than the bound is as large as was asked. The device is entered for all calls, and when the
// pool dies. Thread-safety: none; the engine's lock.
class DeviceBlocks {
 public:
  static constexpr std::size_t least_bytes = std::size_t{1} << 20;
  static constexpr std::size_t most_kept_bytes = std::size_t{1} << 30;

  struct Block {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
    cuda::Event after = nullptr;  // while it is free: what still reads it ends here; null: nothing does
  };

  // `bound`: bytes that are kept for later.
  DeviceBlocks(cuda::Api& api, cuda::EventPool& events, std::size_t bound = most_kept_bytes) noexcept
      : api_(api), events_(events), bound_(bound) {}
  // Does not wait for what still reads a block: the driver does.
  ~DeviceBlocks();
  DeviceBlocks(const DeviceBlocks&) = delete;
  DeviceBlocks& operator=(const DeviceBlocks&) = delete;

  // At least so many bytes, that `stream` may write from now on. Null memory: the device has no more.
  Block take(std::size_t bytes, cuda::Stream stream) noexcept;
  // It is free when `stream` has done what it was told up to now.
  void give_back_after(Block block, cuda::Stream stream) noexcept;

 private:
  void drop(const Block& block) noexcept;

  cuda::Api& api_;
  cuda::EventPool& events_;
  const std::size_t bound_;
  std::vector<Block> free_;
  std::size_t kept_bytes_ = 0;  // in free_
  std::size_t count_ = 0;       // of all blocks, given out or not
};

}  // namespace parley::transport::cuda_ipc
