#pragma once

#include <parley/value_index.h>

#include <limits>

// The operations on elements that are no vector lane's, for the CPU's kernels and, as all is constexpr, for a
// device's as well.
namespace parley::tensor {

// Not std::complex, whose product looks for infinities.
template <typename T>
struct Complex {
  T real;
  T imaginary;
};

template <typename T>
constexpr bool is_nan(T value) noexcept {
  return value != value;  // NOLINT(misc-redundant-expression)
}

// The quiet NaN without payload in place of any other.
template <typename T>
constexpr T canonical(T value) noexcept {
  return is_nan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
}

struct ComplexProduct {
  template <typename T>
  static constexpr Complex<T> combine(Complex<T> a, Complex<T> b) noexcept {
    return {canonical(a.real * b.real - a.imaginary * b.imaginary),
            canonical(a.real * b.imaginary + a.imaginary * b.real)};
  }
};

// The result does not depend on the order of the operands: where no value wins, the lower index does.
template <bool greatest>
struct Location {
  template <typename V, typename I>
  static constexpr ValueIndex<V, I> combine(ValueIndex<V, I> a, ValueIndex<V, I> b) noexcept {
    if (is_nan(a.value) != is_nan(b.value)) return is_nan(a.value) ? a : b;
    if (greatest ? a.value > b.value : a.value < b.value) return a;
    if (greatest ? b.value > a.value : b.value < a.value) return b;
    return b.index < a.index ? b : a;
  }
};

}  // namespace parley::tensor
