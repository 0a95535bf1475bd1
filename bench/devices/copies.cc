#include "bench/devices/copies.h"

#include <cstring>

namespace parley::bench {

CopyMemory::CopyMemory(RankDevice& device, std::size_t bytes, int other)
    : device_(device),
      source_(device, bytes),
      target_(device, bytes, DeviceBytes::Kind::device, other),
      pinned_(device, bytes, DeviceBytes::Kind::pinned) {
  device_.copy(target_.data(), source_.data(), bytes);
  rewrite();
}

void CopyMemory::rewrite() {
  ++value_;
  device_.fill(source_.data(), value_, bytes());
  std::memset(pinned_.data(), value_, bytes());
  device_.finish();
}

}  // namespace parley::bench
