#pragma once

#include <parley/process_group.h>
#include <parley/tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/simulated_device/simulated_device.h"
#include "transport/cuda/api.h"

namespace parley::testing {

// The device, or devices, of one rank: the machine's where PARLEY_TEST_DEVICE=cuda is set, else a simulated
// one. Made in the rank's process before its world, and there until that has gone.
class DeviceRank {
 public:
  // Where it is simulated. `physical`: which GPU of the host is device 0 here; `devices`: how many are
  // visible, from there on.
  explicit DeviceRank(int physical = 0, int devices = 1);
  ~DeviceRank();
  DeviceRank(const DeviceRank&) = delete;
  DeviceRank& operator=(const DeviceRank&) = delete;

  [[nodiscard]] cuda::Api& api() noexcept { return *api_; }
  // REQUIRES: it is simulated.
  [[nodiscard]] cuda::testing::SimulatedDevice& simulated() noexcept { return *simulated_; }

  // Whether the tests run on the machine's device. What needs a simulated one is skipped then.
  [[nodiscard]] static bool is_real();

 private:
  std::unique_ptr<cuda::testing::SimulatedDevice> simulated_;
  cuda::Api* api_ = nullptr;
};

// Memory on a device.
class DeviceBuffer {
 public:
  // pool: other processes cannot open it. REQUIRES: the device is simulated.
  enum class Source : std::uint8_t { plain, pool };

  DeviceBuffer(DeviceRank& rank, std::size_t bytes, Source source = Source::plain, int device = 0);
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  // `bytes` of it.
  [[nodiscard]] Tensor tensor(std::size_t bytes, std::size_t offset = 0) const;
  [[nodiscard]] Tensor tensor() const { return tensor(bytes_); }

  // Both wait for the device's default stream.
  void upload(const std::vector<std::byte>& content, std::size_t offset = 0) const;
  [[nodiscard]] std::vector<std::byte> download(std::size_t bytes, std::size_t offset = 0) const;

 private:
  DeviceRank& rank_;
  std::size_t bytes_;
  int device_;
  std::byte* data_ = nullptr;
};

// Bytes that tell where they belong: another one at each offset and for each seed.
[[nodiscard]] std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t seed);
void expect_pattern(const std::vector<std::byte>& found, std::uint64_t seed);

}  // namespace parley::testing
