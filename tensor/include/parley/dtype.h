#pragma once

#include <parley/export.h>
#include <parley/float16.h>
#include <parley/value_index.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace parley {

// Element types. The numbers travel between processes: never change one.
enum class DType : std::uint8_t {
  bytes = 0,  // no type: matches a message of any type
  boolean = 1,
  u8 = 2,
  i8 = 3,
  i16 = 4,
  i32 = 5,
  i64 = 6,
  f16 = 7,
  bf16 = 8,
  f32 = 9,
  f64 = 10,
  complex64 = 11,   // two f32
  complex128 = 12,  // two f64
  f8_e4m3 = 13,     // the f8 kinds are carried, not computed with
  f8_e5m2 = 14,
  f32_i32 = 15,  // a value and its index, for minloc and maxloc: ValueIndex<float, std::int32_t>
  f64_i64 = 16,
  i32_i32 = 17,
  i64_i64 = 18,
};
inline constexpr int dtype_count = 19;

namespace detail {
// Outside of the function, which would copy it onto the stack in each call.
inline constexpr std::uint8_t dtype_bytes[dtype_count] = {1, 1, 1,  1, 2, 4, 8,  2, 2, 4,
                                                          8, 8, 16, 1, 1, 8, 16, 8, 16};
}  // namespace detail

// Bytes of one element, a power of 2; 0 for a number that is no DType.
[[nodiscard]] constexpr std::size_t size_of(DType dtype) noexcept {
  const auto index = static_cast<std::size_t>(dtype);
  return index < dtype_count ? detail::dtype_bytes[index] : 0;
}

// "f32", "bool", "bytes"; "unknown" for a number that is no DType. The text is static.
[[nodiscard]] PARLEY_API std::string_view name(DType dtype) noexcept;

PARLEY_API std::ostream& operator<<(std::ostream& out, DType dtype);

namespace detail {
template <typename T>
struct DTypeOf {};
template <DType dtype>
struct DTypeIs {
  static constexpr DType value = dtype;
};
template <>
struct DTypeOf<std::byte> : DTypeIs<DType::bytes> {};
template <>
struct DTypeOf<bool> : DTypeIs<DType::boolean> {};
template <>
struct DTypeOf<std::uint8_t> : DTypeIs<DType::u8> {};
template <>
struct DTypeOf<std::int8_t> : DTypeIs<DType::i8> {};
template <>
struct DTypeOf<char> : DTypeIs<DType::u8> {};
template <>
struct DTypeOf<std::int16_t> : DTypeIs<DType::i16> {};
template <>
struct DTypeOf<std::int32_t> : DTypeIs<DType::i32> {};
template <>
struct DTypeOf<long> : DTypeIs<DType::i64> {};
template <>
struct DTypeOf<long long> : DTypeIs<DType::i64> {};
template <>
struct DTypeOf<float16> : DTypeIs<DType::f16> {};
template <>
struct DTypeOf<bfloat16> : DTypeIs<DType::bf16> {};
template <>
struct DTypeOf<float> : DTypeIs<DType::f32> {};
template <>
struct DTypeOf<double> : DTypeIs<DType::f64> {};
template <>
struct DTypeOf<std::complex<float>> : DTypeIs<DType::complex64> {};
template <>
struct DTypeOf<std::complex<double>> : DTypeIs<DType::complex128> {};
template <>
struct DTypeOf<ValueIndex<float, std::int32_t>> : DTypeIs<DType::f32_i32> {};
template <>
struct DTypeOf<ValueIndex<double, std::int64_t>> : DTypeIs<DType::f64_i64> {};
template <>
struct DTypeOf<ValueIndex<std::int32_t, std::int32_t>> : DTypeIs<DType::i32_i32> {};
template <>
struct DTypeOf<ValueIndex<std::int64_t, std::int64_t>> : DTypeIs<DType::i64_i64> {};
static_assert(sizeof(long) == 8 && sizeof(bool) == 1);
}  // namespace detail

// C++ types that a tensor can hold; T without const.
//
// char is u8, whether or not it is signed: text is the same bytes on every machine, and a rank with signed
// chars must not disagree with one whose chars are not. So a string is received into chars or u8, not i8.
// A string literal is an array of its characters and the zero behind them.
template <typename T>
concept has_dtype = requires {
  detail::DTypeOf<T>::value;
};

template <typename T>
requires has_dtype<T>
inline constexpr DType dtype_of = detail::DTypeOf<T>::value;

}  // namespace parley
