#include "transport/cuda_ipc/open_memory.h"

#include <atomic>

#include "transport/cuda_ipc/counted_uses.h"

namespace parley::transport::cuda_ipc {
namespace {

struct Opened {
  cuda::Api* api;
  cuda::MemoryHandle handle;
  int device;  // that was entered when it was opened
  std::byte* base;
};

CountedUses<Opened>& opened() {
  static auto& all = *new CountedUses<Opened>;
  return all;
}

std::atomic<std::uint64_t> closed_so_far{0};

}  // namespace

cuda::Code acquire(cuda::Api& api, const cuda::MemoryHandle& handle, int device, std::byte*& base) noexcept {
  Opened memory{&api, handle, device, nullptr};
  const cuda::Code code = opened().acquire(
      memory, [&](const Opened& other) { return other.api == &api && other.handle == handle; },
      [](Opened& made) {
        const cuda::DeviceScope scope(*made.api, made.device);
        return scope.code() == cuda::Code::ok ? made.api->import_memory(made.handle, made.base)
                                              : scope.code();
      });
  base = memory.base;
  return code;
}

void release(cuda::Api& api, std::byte* base) noexcept {
  opened().release([&](const Opened& other) { return other.api == &api && other.base == base; },
                   [](const Opened& memory) {
                     const cuda::DeviceScope scope(*memory.api, memory.device);
                     (void)memory.api->close_memory(memory.base);
                     // relaxed: it orders nothing; who tries again is told by CUDA whether there is room.
                     closed_so_far.fetch_add(1, std::memory_order_relaxed);
                   });
}

std::uint64_t closings() noexcept {
  return closed_so_far.load(std::memory_order_relaxed);  // as where it is counted
}

}  // namespace parley::transport::cuda_ipc
