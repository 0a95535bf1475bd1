#pragma once

#include <algorithm>
#include <cstdint>

#include "api/schedule/slice.h"

namespace parley::schedule {

// In how many segments of at most `segment` elements `count` elements are cut; `segment` 0: in one.
constexpr std::uint64_t segments_of(std::uint64_t count, std::uint64_t segment) noexcept {
  return segment == 0 || count == 0 ? 1 : (count + segment - 1) / segment;
}

// Calls use(offset, count) for each segment of `count` elements.
template <typename Use>
void for_each_segment(std::uint64_t count, std::uint64_t segment, Use use) {
  const std::uint64_t step = segment == 0 ? count : segment;
  for (std::uint64_t offset = 0; offset < count; offset += step) use(offset, std::min(step, count - offset));
}

}  // namespace parley::schedule
