#pragma once

#include <cstddef>
#include <cstring>

namespace parley::base {

// Memory that somebody else owns, of the host.
struct MemoryRef {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

struct ConstMemoryRef {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
};

// std::memcpy, which is undefined from nullptr even for 0 bytes.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

}  // namespace parley::base
