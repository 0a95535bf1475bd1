#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "api/schedule/slice.h"

namespace parley::schedule {

// A slice cut into consecutive blocks.
class Blocks {
 public:
  // `parts` blocks of as equal counts as can be: they differ by at most one element.
  Blocks(const Slice& whole, std::uint32_t parts);
  // One block for each count, one after another from the beginning of `whole`.
  Blocks(const Slice& whole, std::span<const std::uint64_t> counts);

  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(borders_.size() - 1);
  }
  [[nodiscard]] Slice operator[](std::uint32_t index) const noexcept { return range(index, index + 1); }
  // Blocks [first, last) as one slice.
  [[nodiscard]] Slice range(std::uint32_t first, std::uint32_t last) const noexcept {
    return whole_.part(borders_[first] - whole_.begin, borders_[last] - borders_[first]);
  }
  [[nodiscard]] std::uint64_t largest() const noexcept;

 private:
  Slice whole_;
  std::vector<std::uint64_t> borders_;  // one more than blocks
};

}  // namespace parley::schedule
