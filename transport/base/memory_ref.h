#pragma once

#include <cstddef>

namespace parley::base {

// Memory that somebody else owns, of the host.
struct MemoryRef {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

struct ConstMemoryRef {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  friend bool operator==(const ConstMemoryRef&, const ConstMemoryRef&) = default;
};

}  // namespace parley::base
