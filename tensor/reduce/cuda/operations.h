#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "tensor/reduce/element_operations.h"

// What happens to two numbers: the device's combine.h.
namespace parley::tensor::device {

// Integers wrap around: without the promotion to int, in which a product may overflow.
struct Add {
  template <typename T>
  static constexpr T combine(T a, T b) noexcept {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(std::uint64_t{a} + b);
    } else {
      return a + b;
    }
  }
};
struct Multiply {
  template <typename T>
  static constexpr T combine(T a, T b) noexcept {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(std::uint64_t{a} * b);
    } else {
      return a * b;
    }
  }
};
struct Divide {
  template <typename T>
  static constexpr T combine(T a, T b) noexcept {
    return a / b;
  }
};
struct And {
  template <typename T>
  static constexpr T combine(T a, T b) noexcept {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  static constexpr T combine(T a, T b) noexcept {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  static constexpr T combine(T a, T b) noexcept {
    return static_cast<T>(a ^ b);
  }
};

// Those of IEEE 754-2019 for floating-point numbers: a NaN wins (which one is the format's business), and -0
// is less than +0. Where neither number is less, they are equal, and only zeros differ in a bit, the sign.
template <bool greatest>
struct Extreme {
  template <typename T>
  static constexpr T combine(T a, T b) noexcept {
    if (greatest ? a > b : a < b) return a;
    if constexpr (std::is_floating_point_v<T>) {
      if (is_nan(a)) return a;
      if (a == b) return of_equals(a, b);
    }
    return b;
  }
  template <typename T>
  static constexpr T of_equals(T a, T b) noexcept {
    using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    const auto a_bits = std::bit_cast<Word>(a);
    const auto b_bits = std::bit_cast<Word>(b);
    return std::bit_cast<T>(greatest ? a_bits & b_bits : a_bits | b_bits);
  }
};
using Minimum = Extreme<false>;
using Maximum = Extreme<true>;

// Towards zero. REQUIRES: a divisor above 0
struct Quotient {
  template <typename T>
  static constexpr T combine(T element, std::int64_t divisor) noexcept {
    return static_cast<T>(element / divisor);
  }
};

}  // namespace parley::tensor::device
