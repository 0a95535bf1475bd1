#include "transport/cuda_ipc/port.h"

#include <algorithm>
#include <new>

#include "transport/cuda/runtime.h"
#include "transport/cuda_ipc/peer_view.h"
#include "transport/cuda_ipc/transfer.h"

namespace parley::transport::cuda_ipc {

Port::Port() = default;

Port::~Port() {
  retired_.clear();
  for (auto& [device, desk] : desks_) {
    const cuda::DeviceScope scope(*api_, device);
    desk.reset();
  }
}

cuda::Api* Port::open() noexcept {
  if (api_ == nullptr) api_ = cuda::runtime();
  return api_;
}

Port::Desk* Port::desk(int device) noexcept {
  try {
    std::unique_ptr<Desk>& desk = desks_[device];
    if (desk == nullptr) desk = std::make_unique<Desk>(*api_, device);
    return desk.get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

ReadLane* Port::Desk::lane(cuda::Stream stream, int receiver) noexcept try {
  ReadLane* free = nullptr;
  for (ReadLane& lane : lanes) {
    if (lane.readers == 0)
      free = &lane;
    else if (lane.stream == stream && lane.receiver == receiver)
      return &lane;
  }
  if (free == nullptr) return &lanes.emplace_back(stream, receiver);
  free->stream = stream;
  free->receiver = receiver;
  return free;
} catch (const std::bad_alloc&) {
  return nullptr;
}

Transfer* Port::begin(int device, cuda::Stream stream, std::byte* address, std::size_t bytes) noexcept {
  if (!retired_.empty()) sweep();
  Desk* const at = desk(device);
  if (at == nullptr) return nullptr;
  try {
    if (transfers_ == nullptr) transfers_ = std::make_unique<base::SlabPool<Transfer, 16>>();
    return transfers_->create(*this, *at, stream, address, bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void Port::retire(std::unique_ptr<PeerView> view) noexcept try {
  if (!view->close_all()) retired_.push_back(std::move(view));
} catch (const std::bad_alloc&) {
  // Then the driver waits for the copies.
}

void Port::sweep() noexcept {
  std::erase_if(retired_, [](const auto& view) { return view->close_all(); });
}

void Port::end(Transfer& transfer) noexcept {
  transfers_->destroy(&transfer);
}

int Port::device_of(const cuda::DeviceId& id) noexcept {
  try {
    while (static_cast<int>(ids_.size()) < api_->device_count()) {
      cuda::DeviceId own{};
      if (api_->device_id(static_cast<int>(ids_.size()), own) != cuda::Code::ok) return -1;
      ids_.push_back(own);
    }
  } catch (const std::bad_alloc&) {
    return -1;
  }
  const auto found = std::find(ids_.begin(), ids_.end(), id);
  return found == ids_.end() ? -1 : static_cast<int>(found - ids_.begin());
}

}  // namespace parley::transport::cuda_ipc
