#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace parley::base {

// Where memory lies.
enum class MemoryKind : std::uint8_t { host, pinned_host, cuda };

// Memory that somebody else owns.
struct MemoryRef {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::host;
  std::int16_t device = -1;
};

struct ConstMemoryRef {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::host;
  std::int16_t device = -1;
};

// std::memcpy, which is undefined from nullptr even for 0 bytes.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

}  // namespace parley::base
