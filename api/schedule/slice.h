#pragma once

#include <cstdint>

namespace parley::schedule {

// The three places that a step may name. The caller's input is read only.
enum class Space : std::uint8_t { input, output, scratch };

// Elements [begin, begin + count) of one place.
struct Slice {
  Space space = Space::input;
  std::uint64_t begin = 0;
  std::uint64_t count = 0;

  // `count` elements of this slice from its element `offset` on. REQUIRES: they lie in it.
  [[nodiscard]] constexpr Slice part(std::uint64_t offset, std::uint64_t part_count) const noexcept {
    return {space, begin + offset, part_count};
  }
  [[nodiscard]] constexpr std::uint64_t end() const noexcept { return begin + count; }
  friend constexpr bool operator==(const Slice&, const Slice&) = default;
};

}  // namespace parley::schedule
