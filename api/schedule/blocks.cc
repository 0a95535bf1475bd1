#include "api/schedule/blocks.h"

#include <algorithm>

namespace parley::schedule {

Blocks::Blocks(const Slice& whole, std::uint32_t parts) : whole_(whole), borders_(parts + 1) {
  // The first `count mod parts` blocks have one element more.
  const std::uint64_t least = whole.count / parts;
  const std::uint64_t more = whole.count % parts;
  for (std::uint64_t i = 0; i <= parts; ++i) borders_[i] = whole.begin + least * i + std::min(i, more);
}

Blocks::Blocks(const Slice& whole, std::span<const std::uint64_t> counts)
    : whole_(whole), borders_(counts.size() + 1) {
  borders_[0] = whole.begin;
  for (std::size_t i = 0; i < counts.size(); ++i) borders_[i + 1] = borders_[i] + counts[i];
}

std::uint64_t Blocks::largest() const noexcept {
  std::uint64_t most = 0;
  for (std::size_t i = 1; i < borders_.size(); ++i) most = std::max(most, borders_[i] - borders_[i - 1]);
  return most;
}

}  // namespace parley::schedule
