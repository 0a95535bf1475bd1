#pragma once

#include <parley/dtype.h>
#include <parley/scalar.h>
#include <parley/shape.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace parley::tensor {

// The bytes of one element; only the first size_of(dtype) of them count.
using ElementBytes = std::array<std::byte, 16>;

// Throws UsageError when the value does not fit the type (see Scalar::to). The f8 kinds and pairs take 0
// only.
ElementBytes encode(const Scalar& value, DType dtype);

// Reads an element, which need not be aligned. Throws UsageError for the f8 kinds and pairs.
Scalar decode(const std::byte* element, DType dtype);

[[nodiscard]] constexpr bool is_f8(DType dtype) noexcept {
  return dtype == DType::f8_e4m3 || dtype == DType::f8_e5m2;
}
[[nodiscard]] constexpr bool is_complex(DType dtype) noexcept {
  return dtype == DType::complex64 || dtype == DType::complex128;
}
[[nodiscard]] constexpr bool is_floating_point(DType dtype) noexcept {
  return dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32 || dtype == DType::f64;
}

// A value and its index (ValueIndex). Each part is an element of its own type; both start at multiples of the
// value's size, the index behind the value.
struct PairParts {
  DType value;
  DType index;
};
[[nodiscard]] constexpr bool is_pair(DType dtype) noexcept {
  return dtype >= DType::f32_i32 && dtype <= DType::i64_i64;
}
// REQUIRES: is_pair(dtype)
[[nodiscard]] constexpr PairParts parts_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32_i32: return {DType::f32, DType::i32};
    case DType::f64_i64: return {DType::f64, DType::i64};
    case DType::i32_i32: return {DType::i32, DType::i32};
    default: return {DType::i64, DType::i64};
  }
}

// Distance in bytes from the first element to the one with this index in `dim` (and 0 elsewhere).
[[nodiscard]] inline std::ptrdiff_t offset_bytes(const Shape& strides, std::size_t dim, std::int64_t index,
                                                 DType dtype) noexcept {
  return index * strides[dim] * static_cast<std::ptrdiff_t>(size_of(dtype));
}

// Calls fn(pointer) for each element in row-major order. `Pointer` is std::byte* or const std::byte*.
template <typename Pointer, typename Fn>
void for_each_element(Pointer first, const Shape& shape, const Shape& strides, DType dtype, Fn& fn,
                      std::size_t dim = 0) {
  if (dim == shape.size()) return fn(first);
  for (std::int64_t index = 0; index < shape[dim]; ++index)
    for_each_element(first + offset_bytes(strides, dim, index, dtype), shape, strides, dtype, fn, dim + 1);
}

}  // namespace parley::tensor
