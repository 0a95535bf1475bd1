#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace parley::base {

// memcpy(), for what is mostly a value or two: those are copied in place, without a call.
inline void copy_few(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  constexpr std::size_t word = sizeof(std::uint64_t);
  if (bytes == word) {
    std::memcpy(to, from, word);
  } else if (bytes > word && bytes <= 2 * word) {
    std::uint64_t first, last;  // they may overlap
    std::memcpy(&first, from, word);
    std::memcpy(&last, from + bytes - word, word);
    std::memcpy(to, &first, word);
    std::memcpy(to + bytes - word, &last, word);
  } else {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace parley::base
