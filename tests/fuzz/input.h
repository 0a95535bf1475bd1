#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace parley::fuzz {

// What the fuzzer wrote, read from the front as choices and as bytes. When it is used up, every choice is 0.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : left_(reinterpret_cast<const std::byte*>(data), size) {}

  [[nodiscard]] bool empty() const noexcept { return left_.empty(); }
  std::uint8_t byte() noexcept {
    const auto one = take(1);
    return one.empty() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(one.front());
  }
  // One of 0 to count - 1. REQUIRES: 0 < count <= 256.
  std::size_t choice(std::size_t count) noexcept { return byte() % count; }
  template <typename T, std::size_t count>
  T one_of(const T (&values)[count]) noexcept {
    return values[choice(count)];
  }
  // At most so many bytes.
  std::span<const std::byte> take(std::size_t bytes) noexcept {
    const auto taken = left_.first(std::min(bytes, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  std::span<const std::byte> rest() noexcept { return take(left_.size()); }
  // Fills an array; what is missing becomes zero.
  template <typename Array>
  void fill(Array& into) noexcept {
    std::fill(std::copy_n(left_.begin(), std::min(into.size(), left_.size()), into.begin()), into.end(),
              std::byte{});
    take(into.size());
  }

 private:
  std::span<const std::byte> left_;
};

}  // namespace parley::fuzz
