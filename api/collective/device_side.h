#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "tensor/reduce/cuda/device_reduction.h"
#include "transport/cuda_ipc/transfer.h"

namespace parley::collective {

// On which device a call's memory lies, and in which stream's order it is worked on.
struct DevicePlace {
  transport::cuda_ipc::Port* port = nullptr;
  int device = 0;
  cuda::Stream stream = cuda::default_stream;
  std::optional<ReduceOp> op;  // where something is folded, and then:
  std::optional<tensor::DeviceReduction> reduction;
};

// What a run does with memory of a device: the same steps as with memory of the host, but each is only told
// to the one stream, whose order is the schedule's. Nobody waits for the device.
//
// Why no stream waits for itself by way of others: each wait is for an event or a signal that some stream was
// told of before, here or in another process; so what is told first never waits for what is told later.
//
// Failures stay: after one the calls do nothing, and status() tells it. Thread-safety: none; the engine's
// lock.
class DeviceSide {
 public:
  enum class Room : std::uint8_t { scratch, input, output };
  static constexpr std::size_t rooms = 3;

  explicit DeviceSide(std::shared_ptr<const DevicePlace> place) noexcept : place_(std::move(place)) {}
  ~DeviceSide();
  DeviceSide(const DeviceSide&) = delete;
  DeviceSide& operator=(const DeviceSide&) = delete;

  // Memory of the run's own, once for each room, until this dies. Throws std::bad_alloc.
  std::byte* take(Room room, std::size_t bytes);

  // As tensor::Reduction does and std::memcpy.
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;
  void fold(std::byte* to, std::span<const void* const> operands, std::size_t count) noexcept;
  void prepare(std::byte* to, const std::byte* from, std::size_t count) noexcept;
  void finish(std::byte* elements, std::size_t count, std::int64_t ranks) noexcept;

  // For a send or receive of its memory, or for the whole run (no memory). Null: out of memory.
  transport::DeviceMemory* begin(std::byte* memory, std::size_t bytes) const noexcept;
  // A send or receive has ended well: what is told from now on comes after it.
  void follow(transport::DeviceMemory& memory) noexcept;

  [[nodiscard]] base::Status status() const noexcept { return transport::cuda_ipc::status_of(code_); }

 private:
  template <typename Tell>
  void tell(const Tell& tell_it) noexcept;

  const std::shared_ptr<const DevicePlace> place_;
  std::array<transport::cuda_ipc::DeviceBlocks::Block, rooms> blocks_;
  cuda::Code code_ = cuda::Code::ok;
};

}  // namespace parley::collective
