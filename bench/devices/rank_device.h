#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/cuda/api.h"

namespace parley::bench {

// The device that a rank measures on, entered in the calling thread for as long as this lives, so that no
// measured call has to. All work goes to the default stream, where the library's has its place too.
// Borrows the api. Thread-safety: none; dies in the thread that made it.
// Errors: std::runtime_error with the driver's words.
class RankDevice {
 public:
  RankDevice(cuda::Api& api, int number);
  ~RankDevice();
  RankDevice(const RankDevice&) = delete;
  RankDevice& operator=(const RankDevice&) = delete;

  [[nodiscard]] cuda::Api& api() noexcept { return api_; }
  [[nodiscard]] int number() const noexcept { return number_; }

  // Both are done in the stream's order, after the call has returned.
  void copy(void* to, const void* from, std::size_t bytes);
  void fill(void* to, std::uint8_t value, std::size_t bytes);
  // Returns when all that the stream was told has been done: an event is recorded and waited for.
  void finish();

  void require(cuda::Code code, const char* call) const;

 private:
  cuda::Api& api_;
  const int number_;
  const cuda::DeviceScope scope_;
  cuda::Event event_ = nullptr;
};

// Memory for measurements, uninitialized; at least one byte. Borrows the device. Errors: as RankDevice.
class DeviceBytes {
 public:
  enum class Kind : std::uint8_t {
    device,
    pinned,  // of the host
  };
  DeviceBytes(RankDevice& device, std::size_t bytes, Kind kind = Kind::device)
      : DeviceBytes(device, bytes, kind, device.number()) {}
  // Of another device than that one.
  DeviceBytes(RankDevice& device, std::size_t bytes, Kind kind, int number);
  ~DeviceBytes();
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

 private:
  RankDevice& device_;
  const std::size_t bytes_;
  const Kind kind_;
  const int number_;
  std::byte* data_ = nullptr;
};

}  // namespace parley::bench
