#pragma once

#include <bit>
#include <cstdint>

namespace parley::schedule {

// ceil(log2 `size`): rounds of doubling until one has become `size`.
constexpr std::uint32_t doubling_rounds(std::uint32_t size) noexcept {
  return static_cast<std::uint32_t>(std::bit_width(size - 1));
}

// REQUIRES: number > 0.
constexpr std::uint32_t lowest_bit(std::uint32_t number) noexcept {
  return number & (~number + 1);
}

constexpr std::uint64_t divide_up(std::uint64_t count, std::uint64_t parts) noexcept {
  return (count + parts - 1) / parts;
}

}  // namespace parley::schedule
