#pragma once

#include <bit>
#include <cstdint>

namespace parley::schedule {

// Groups that are no power of two: of the first 2·extra() indices each odd one takes part for itself and for
// the even one before it, so that a power of two remains. The others take part for themselves. Neighbours
// stay neighbours, so an algorithm that keeps the order of ranks still does. Thakur, Rabenseifner, Gropp:
// Optimization of collective communication operations in MPICH, IJHPCA 19(1), 2005.
class FoldExtra {
 public:
  // `kept` takes part also where it is the even one of its pair; the odd one then leaves.
  explicit constexpr FoldExtra(std::uint32_t size, std::uint32_t kept = 1) noexcept
      : power_(std::bit_floor(size)), extra_(size - std::bit_floor(size)), kept_(kept) {}

  // How many take part, a power of two, and in how many rounds of doubling they all meet.
  [[nodiscard]] constexpr std::uint32_t power() const noexcept { return power_; }
  [[nodiscard]] constexpr std::uint32_t rounds() const noexcept {
    return static_cast<std::uint32_t>(std::countr_zero(power_));
  }
  [[nodiscard]] constexpr std::uint32_t extra() const noexcept { return extra_; }

  [[nodiscard]] constexpr bool is_paired(std::uint32_t index) const noexcept { return index < 2 * extra_; }
  // The other one of a pair.
  [[nodiscard]] static constexpr std::uint32_t partner(std::uint32_t index) noexcept { return index ^ 1U; }
  [[nodiscard]] constexpr bool leaves(std::uint32_t index) const noexcept {
    return is_paired(index) && index != member(index / 2);
  }
  // The number among those that take part. REQUIRES: !leaves(index)
  [[nodiscard]] constexpr std::uint32_t number(std::uint32_t index) const noexcept {
    return is_paired(index) ? index / 2 : index - extra_;
  }
  // Who takes part as `number`.
  [[nodiscard]] constexpr std::uint32_t member(std::uint32_t number) const noexcept {
    if (number >= extra_) return number + extra_;
    return kept_ == 2 * number ? 2 * number : 2 * number + 1;
  }
  // The first index for which `number` takes part; for power(), the group's size.
  [[nodiscard]] constexpr std::uint32_t first(std::uint32_t number) const noexcept {
    return number < extra_ ? 2 * number : number + extra_;
  }

 private:
  std::uint32_t power_;
  std::uint32_t extra_;
  std::uint32_t kept_;
};

}  // namespace parley::schedule
