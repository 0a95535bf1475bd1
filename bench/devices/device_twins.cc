#include "bench/devices/device_twins.h"

namespace parley::bench {

DeviceTwins::DeviceTwins(RankDevice& device, std::span<const std::byte> out, std::span<const std::byte> in)
    : device_(device), out_(device, out.size()), in_(device, in.size()) {
  write_out(out);
  spoil_in();
}

void DeviceTwins::write_out(std::span<const std::byte> image) {
  device_.copy(out_.data(), image.data(), image.size());
  device_.finish();
}

void DeviceTwins::spoil_in() {
  device_.fill(in_.data(), 0xff, in_.size());
  device_.finish();
}

void DeviceTwins::read_in(std::span<std::byte> image) const {
  device_.copy(image.data(), in_.data(), image.size());
  device_.finish();
}

}  // namespace parley::bench
