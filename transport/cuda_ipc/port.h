#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport/base/slab_pool.h"
#include "transport/base/status.h"
#include "transport/cuda/api.h"
#include "transport/cuda/event_pool.h"
#include "transport/cuda/pinned_pool.h"
#include "transport/cuda_ipc/device_blocks.h"
#include "transport/cuda_ipc/life_watch.h"
#include "transport/cuda_ipc/read_lane.h"

namespace parley::transport::cuda_ipc {

class PeerView;
class Transfer;

// `device_failed` with CUDA's number, or ok.
[[nodiscard]] inline base::Status status_of(cuda::Code code) noexcept {
  if (code == cuda::Code::ok) return {};
  return {base::Code::device_failed, static_cast<int>(code)};
}

// What the transfers of one rank share: events, pinned memory of the host, memory of the device, all
// recycled. It costs nothing before the first use of a device. Thread-safety: none; the engine's lock.
class Port {
 public:
  // For one device, which is entered for calls of its members as they say.
  struct Desk {
    Desk(cuda::Api& api, int number) noexcept
        : device(number), events(api), pinned(api, events), blocks(api, events) {}
    // Null: out of memory.
    ReadLane* lane(cuda::Stream stream, int receiver) noexcept;

    const int device;
    cuda::EventPool events;
    cuda::PinnedPool pinned;
    DeviceBlocks blocks;
    std::deque<ReadLane> lanes;  // a deque, for they are pointed to
  };

  Port();
  // Waits for copies that are under way. REQUIRES: no transfer is left.
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  // The process's CUDA; null: there is none, see cuda::reason_against().
  cuda::Api* open() noexcept;
  // The same, null before the first open().
  [[nodiscard]] cuda::Api* api() const noexcept { return api_; }

  // One send or receive of device memory, in the order of `stream`. Null: out of memory.
  // REQUIRES: open() has succeeded.
  Transfer* begin(int device, cuda::Stream stream, std::byte* address, std::size_t bytes) noexcept;
  void end(Transfer& transfer) noexcept;

  // Closes what the peer of an ended link has shown, as soon as no stream uses it.
  void retire(std::unique_ptr<PeerView> view) noexcept;
  void sweep() noexcept;

  [[nodiscard]] LifeWatch& life_watch() noexcept { return life_watch_; }

  // Null: out of memory.
  Desk* desk(int device) noexcept;
  // The number, in this process, of a device that another process names. -1: it is not visible here.
  int device_of(const cuda::DeviceId& id) noexcept;

 private:
  cuda::Api* api_ = nullptr;
  std::map<int, std::unique_ptr<Desk>> desks_;
  std::vector<cuda::DeviceId> ids_;  // by number, once asked for
  std::unique_ptr<base::SlabPool<Transfer, 16>> transfers_;
  std::vector<std::unique_ptr<PeerView>> retired_;
  LifeWatch life_watch_;
};

}  // namespace parley::transport::cuda_ipc
