#include "api/collective/device_side.h"

#include <new>
#include <utility>

namespace parley::collective {

using cuda::Code;
using transport::cuda_ipc::Port;
using transport::cuda_ipc::Transfer;

DeviceSide::~DeviceSide() {
  Port& port = *place_->port;
  const cuda::DeviceScope scope(*port.api(), place_->device);
  for (auto& block : blocks_)
    if (block.memory != nullptr) port.desk(place_->device)->blocks.give_back_after(block, place_->stream);
}

std::byte* DeviceSide::take(Room room, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  Port& port = *place_->port;
  const cuda::DeviceScope scope(*port.api(), place_->device);
  Port::Desk* const desk = port.desk(place_->device);
  if (desk == nullptr) throw std::bad_alloc();
  auto& block = blocks_[static_cast<std::size_t>(room)];
  block = desk->blocks.take(bytes, place_->stream);
  if (block.memory == nullptr) throw std::bad_alloc();
  return block.memory;
}

// Tells the stream something, unless telling it has failed before.
template <typename Tell>
void DeviceSide::tell(const Tell& tell_it) noexcept {
  if (code_ != Code::ok) return;
  cuda::Api& api = *place_->port->api();
  const cuda::DeviceScope scope(api, place_->device);
  code_ = tell_it(api);
}

void DeviceSide::copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  tell([&](cuda::Api& api) { return api.copy(to, from, bytes, place_->stream); });
}

void DeviceSide::fold(std::byte* to, std::span<const void* const> operands, std::size_t count) noexcept {
  tell([&](cuda::Api&) { return place_->reduction->fold(to, operands, count, place_->stream); });
}

void DeviceSide::prepare(std::byte* to, const std::byte* from, std::size_t count) noexcept {
  tell([&](cuda::Api&) { return place_->reduction->prepare(to, from, count, place_->stream); });
}

void DeviceSide::finish(std::byte* elements, std::size_t count, std::int64_t ranks) noexcept {
  tell([&](cuda::Api&) { return place_->reduction->finish(elements, count, ranks, place_->stream); });
}

transport::DeviceMemory* DeviceSide::begin(std::byte* memory, std::size_t bytes) const noexcept {
  return place_->port->begin(place_->device, place_->stream, memory, bytes);
}

void DeviceSide::follow(transport::DeviceMemory& memory) noexcept {
  tell([&](cuda::Api&) { return static_cast<Transfer&>(memory).order(place_->stream); });
}

}  // namespace parley::collective
