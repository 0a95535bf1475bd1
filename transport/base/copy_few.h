#pragma once

#include <cstddef>
#include <cstring>

#include "transport/base/copy_bulk.h"

namespace parley::base {

// copy_bulk(), for what is mostly a value or two: up to so many bytes are copied in place, by two or three
// moves of a known size, which may overlap, instead of a call with an unknown one.
inline constexpr std::size_t few_bytes = 24;

inline void copy_few(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes > few_bytes) {
    copy_bulk(to, from, bytes);
  } else if (bytes >= 8) {
    if (bytes > 16) std::memcpy(to + 8, from + 8, 8);
    std::memcpy(to, from, 8);
    std::memcpy(to + bytes - 8, from + bytes - 8, 8);
  } else if (bytes >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + bytes - 4, from + bytes - 4, 4);
  } else if (bytes != 0) {
    to[0] = from[0];
    to[bytes / 2] = from[bytes / 2];
    to[bytes - 1] = from[bytes - 1];
  }
}

}  // namespace parley::base
