#pragma once

#include <type_traits>

#include "tensor/reduce/half.h"
#include "tensor/reduce/lesser.h"
#include "tensor/reduce/vector.h"

// What happens to two vectors of numbers.
namespace parley::tensor::PARLEY_ISA {

struct Add {
  template <typename V>
  static V apply(V a, V b) noexcept {
    return a + b;
  }
};
struct Multiply {
  template <typename V>
  static V apply(V a, V b) noexcept {
    return a * b;
  }
};
struct Divide {
  template <typename V>
  static V apply(V a, V b) noexcept {
    return a / b;
  }
};
struct And {
  template <typename V>
  static V apply(V a, V b) noexcept {
    return a & b;
  }
};
struct Or {
  template <typename V>
  static V apply(V a, V b) noexcept {
    return a | b;
  }
};
struct Xor {
  template <typename V>
  static V apply(V a, V b) noexcept {
    return a ^ b;
  }
};
struct Maximum {  // of integers
  template <typename V>
  static V apply(V a, V b) noexcept {
    return a > b ? a : b;
  }
};

// Of floating-point numbers, the minimum of IEEE 754-2019, whose result does not depend on the order: a NaN
// wins and -0 is less than +0. Both selections agree where one number is less; where neither is, the numbers
// are equal (and only zeros differ in a bit: or gives -0) or one is a NaN (and or leaves a NaN).
struct Minimum {
  template <typename V>
  static V apply(V a, V b) noexcept {
    if constexpr (std::is_floating_point_v<std::remove_reference_t<decltype(a[0])>>) {
      using Bits = decltype(a < b);
      return reinterpret_cast<V>(reinterpret_cast<Bits>(lesser(a, b)) | reinterpret_cast<Bits>(lesser(b, a)));
    } else {
      return a < b ? a : b;
    }
  }
};

template <typename Op, typename V>
V combine(V a, V b) noexcept {
  if constexpr (std::is_same_v<V, FloatPair>) {
    return {Op::apply(a.first, b.first), Op::apply(a.second, b.second)};
  } else {
    return Op::apply(a, b);
  }
}

}  // namespace parley::tensor::PARLEY_ISA
