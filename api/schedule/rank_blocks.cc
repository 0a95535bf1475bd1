#include "api/schedule/rank_blocks.h"

#include <algorithm>
#include <numeric>

namespace parley::schedule {

Blocks rank_blocks(const Slice& whole, const Shape& shape) {
  return shape.counts.empty() ? Blocks(whole, shape.size) : Blocks(whole, shape.counts);
}

Blocks received_blocks(const Slice& whole, const Shape& shape) {
  return shape.receive_counts.empty() ? Blocks(whole, shape.size) : Blocks(whole, shape.receive_counts);
}

std::uint64_t largest_block(const Shape& shape) noexcept {
  return shape.counts.empty() ? shape.count : *std::max_element(shape.counts.begin(), shape.counts.end());
}

std::uint64_t total_count(const Shape& shape) noexcept {
  return shape.counts.empty() ? shape.count * shape.size
                              : std::accumulate(shape.counts.begin(), shape.counts.end(), std::uint64_t{0});
}

}  // namespace parley::schedule
