#include "api/schedule/blocks.h"

namespace parley::schedule {

Blocks::Blocks(const Slice& whole, std::uint32_t parts)
    : whole_(whole), parts_(parts), least_(whole.count / parts), more_(whole.count % parts) {}

Blocks::Blocks(const Slice& whole, std::span<const std::uint64_t> counts)
    : whole_(whole), parts_(static_cast<std::uint32_t>(counts.size())), borders_(counts.size() + 1) {
  for (std::size_t i = 0; i < counts.size(); ++i) borders_[i + 1] = borders_[i] + counts[i];
}

std::uint64_t Blocks::largest() const noexcept {
  if (borders_.empty()) return least_ + (more_ > 0 ? 1 : 0);
  std::uint64_t most = 0;
  for (std::size_t i = 1; i < borders_.size(); ++i) most = std::max(most, borders_[i] - borders_[i - 1]);
  return most;
}

}  // namespace parley::schedule
