#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "api/schedule/slice.h"

namespace parley::schedule {

// A slice cut into consecutive blocks.
class Blocks {
 public:
  // `parts` blocks of as equal counts as can be: they differ by at most one element. Takes no memory.
  Blocks(const Slice& whole, std::uint32_t parts);
  // One block for each count, one after another from the beginning of `whole`.
  Blocks(const Slice& whole, std::span<const std::uint64_t> counts);

  [[nodiscard]] std::uint32_t size() const noexcept { return parts_; }
  [[nodiscard]] Slice operator[](std::uint32_t index) const noexcept { return range(index, index + 1); }
  // Blocks [first, last) as one slice.
  [[nodiscard]] Slice range(std::uint32_t first, std::uint32_t last) const noexcept {
    return whole_.part(border(first), border(last) - border(first));
  }
  [[nodiscard]] std::uint64_t largest() const noexcept;

 private:
  // Where block `index` begins, counted from the beginning of the whole; of parts_: where the last one ends.
  [[nodiscard]] std::uint64_t border(std::uint64_t index) const noexcept {
    // The first `count mod parts` blocks have one element more.
    return borders_.empty() ? least_ * index + std::min(index, more_) : borders_[index];
  }

  Slice whole_;
  std::uint32_t parts_;
  std::uint64_t least_ = 0;
  std::uint64_t more_ = 0;
  std::vector<std::uint64_t> borders_;  // none: equal counts; else one more than blocks
};

}  // namespace parley::schedule
