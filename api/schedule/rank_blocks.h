#pragma once

#include <cstdint>

#include "api/schedule/blocks.h"
#include "api/schedule/shape.h"

namespace parley::schedule {

// `whole` cut into one block for each rank, even or by Shape::counts.
Blocks rank_blocks(const Slice& whole, const Shape& shape);
// What rank `rank` receives in an all_to_all, cut by who sends it.
Blocks received_blocks(const Slice& whole, const Shape& shape);

// The largest block, and all together.
std::uint64_t largest_block(const Shape& shape) noexcept;
std::uint64_t total_count(const Shape& shape) noexcept;

}  // namespace parley::schedule
