#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/devices/rank_device.h"

namespace parley::bench {

// Memory on a device for what a rank sends and what it receives. Their images on the host are written first
// and compared in the end; the calls here copy between the two and wait until that is done, outside the
// measured time. Borrows the device. Errors: as RankDevice.
class DeviceTwins {
 public:
  // With the contents of `out`; what comes is as large as `in`, and spoiled. Bytes like an image's.
  DeviceTwins(RankDevice& device, std::span<const std::byte> out, std::span<const std::byte> in);

  [[nodiscard]] RankDevice& device() noexcept { return device_; }
  [[nodiscard]] std::byte* out() const noexcept { return out_.data(); }
  [[nodiscard]] std::byte* in() const noexcept { return in_.data(); }

  void write_out(std::span<const std::byte> image);
  // Each byte becomes 0xff: no message has such a byte, and no number is like that.
  void spoil_in();
  void read_in(std::span<std::byte> image) const;

 private:
  RankDevice& device_;
  DeviceBytes out_;
  DeviceBytes in_;
};

}  // namespace parley::bench
