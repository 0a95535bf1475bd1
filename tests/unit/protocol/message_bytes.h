#pragma once

#include <cstddef>
#include <vector>

namespace parley::transport {

// What goes whole, and what is offered first, unless a test says otherwise.
inline constexpr std::size_t eager = 100;
inline constexpr std::size_t offered = 300 * 1024;

inline std::vector<std::byte> bytes(std::size_t count, int value = 7) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

}  // namespace parley::transport
