#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace parley::base
