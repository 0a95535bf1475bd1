#pragma once

#include <parley/export.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace parley {

// Up to 8 sizes, outermost first; {} is the shape of a single number. Also used for strides.
// A value type that never allocates. Errors: UsageError for a negative size or more than 8 of them.
class PARLEY_API Shape {
 public:
  static constexpr std::size_t max_dims = 8;

  constexpr Shape() noexcept = default;
  // Shape{2, 3}; a single number is one dimension.
  template <std::integral... Sizes>
  requires(sizeof...(Sizes) > 0 && sizeof...(Sizes) <= max_dims && !(std::same_as<Sizes, bool> || ...))
      Shape(Sizes... sizes) {  // NOLINT(google-explicit-constructor): zeros({2, 3}) and zeros(5)
    (append(sizes), ...);
  }
  Shape(std::span<const std::int64_t> sizes);                                 // NOLINT
  Shape(const std::vector<std::int64_t>& sizes) : Shape(std::span(sizes)) {}  // NOLINT

  [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }
  // REQUIRES: dim < size()
  [[nodiscard]] constexpr std::int64_t operator[](std::size_t dim) const noexcept { return sizes_[dim]; }
  [[nodiscard]] constexpr const std::int64_t* begin() const noexcept { return sizes_.data(); }
  [[nodiscard]] constexpr const std::int64_t* end() const noexcept { return sizes_.data() + count_; }

  // The product of the sizes, 1 for {}. Throws UsageError when the product of those above 0 does not fit 63
  // bits.
  [[nodiscard]] std::int64_t numel() const;
  // "[2, 3]"
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Shape&, const Shape&) noexcept = default;

 private:
  friend class Tensor;
  struct OneDimension {};
  // REQUIRES: size >= 0.
  constexpr Shape(OneDimension, std::int64_t size) noexcept : sizes_{size}, count_(1) {}

  template <std::integral Size>
  void append(Size size) {
    if (!std::in_range<std::int64_t>(size)) refuse_size();
    append_checked(static_cast<std::int64_t>(size));
  }
  void append_checked(std::int64_t size);
  [[noreturn]] static void refuse_size();

  std::array<std::int64_t, max_dims> sizes_{};
  std::size_t count_ = 0;
};

PARLEY_API std::ostream& operator<<(std::ostream& out, const Shape& shape);

}  // namespace parley
