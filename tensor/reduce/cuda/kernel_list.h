#pragma once

#include <cstdint>

#include "tensor/reduce/cuda/formats.h"
#include "tensor/reduce/cuda/operations.h"

// Every kernel, once: kernels.cu is made of these lists, device_kernels.cc makes the tables of their names,
// and the tests what runs them on the CPU. X(operation, lane or type, format, function); the first two are
// the name: parley_fold_add_f32, parley_fold_many_add_f32, parley_scale_divide_f32.
namespace parley::tensor::device {

using FloatInt = ValueIndex<float, std::int32_t>;
using DoubleLong = ValueIndex<double, std::int64_t>;
using IntInt = ValueIndex<std::int32_t, std::int32_t>;
using LongLong = ValueIndex<std::int64_t, std::int64_t>;

#define PARLEY_SUMS(X, lane, Format) X(add, lane, Format, Add) X(multiply, lane, Format, Multiply)
#define PARLEY_EXTREMES(X, lane, Format) X(minimum, lane, Format, Minimum) X(maximum, lane, Format, Maximum)
#define PARLEY_BITS(X, lane, Format) \
  X(bit_and, lane, Format, And) X(bit_or, lane, Format, Or) X(bit_xor, lane, Format, Xor)

#define PARLEY_UNSIGNED_LANES(of, X)                                                               \
  of(X, u8, Plain<std::uint8_t>) of(X, u16, Plain<std::uint16_t>) of(X, u32, Plain<std::uint32_t>) \
      of(X, u64, Plain<std::uint64_t>)
#define PARLEY_FLOAT_LANES(of, X) \
  of(X, f16, Halves) of(X, bf16, Brains) of(X, f32, Floats<float>) of(X, f64, Floats<double>)
#define PARLEY_SIGNED(of, X)                                                                    \
  of(X, i8, Plain<std::int8_t>) of(X, i16, Plain<std::int16_t>) of(X, i32, Plain<std::int32_t>) \
      of(X, i64, Plain<std::int64_t>)
#define PARLEY_TRUTH_LANES(of, X)                                           \
  of(X, truth8, Truths<std::uint8_t>) of(X, truth16, Truths<std::uint16_t>) \
      of(X, truth32, Truths<std::uint32_t>) of(X, truth64, Truths<std::uint64_t>)

// As table.h has them. Bits on u8 are those of any width.
#define PARLEY_LANE_FOLDS(X)                  \
  PARLEY_UNSIGNED_LANES(PARLEY_SUMS, X)       \
  PARLEY_EXTREMES(X, u8, Plain<std::uint8_t>) \
  PARLEY_SIGNED(PARLEY_EXTREMES, X)           \
  PARLEY_FLOAT_LANES(PARLEY_SUMS, X)          \
  PARLEY_FLOAT_LANES(PARLEY_EXTREMES, X)      \
  PARLEY_BITS(X, u8, Bits)                    \
  PARLEY_TRUTH_LANES(PARLEY_BITS, X)

#define PARLEY_COMPLEX_FOLDS(X)                                \
  X(product, complex64, Plain<Complex<float>>, ComplexProduct) \
  X(product, complex128, Plain<Complex<double>>, ComplexProduct)

#define PARLEY_LOCATIONS(X, type, Format) \
  X(minloc, type, Format, Location<false>) X(maxloc, type, Format, Location<true>)
#define PARLEY_LOCATION_FOLDS(X)                  \
  PARLEY_LOCATIONS(X, f32_i32, Plain<FloatInt>)   \
  PARLEY_LOCATIONS(X, f64_i64, Plain<DoubleLong>) \
  PARLEY_LOCATIONS(X, i32_i32, Plain<IntInt>)     \
  PARLEY_LOCATIONS(X, i64_i64, Plain<LongLong>)

#define PARLEY_PRODUCT(X, lane, Format) X(multiply, lane, Format, Multiply)
#define PARLEY_RATIO(X, lane, Format) X(divide, lane, Format, Divide)
#define PARLEY_QUOTIENT(X, type, Format) X(divide, type, Format, Quotient)
#define PARLEY_LANE_SCALES(X)              \
  PARLEY_UNSIGNED_LANES(PARLEY_PRODUCT, X) \
  PARLEY_FLOAT_LANES(PARLEY_PRODUCT, X)    \
  PARLEY_FLOAT_LANES(PARLEY_RATIO, X)

// By a number of the same type, and of integers by an int64.
#define PARLEY_TYPE_SCALES(X)                                     \
  X(multiply, complex64, Plain<Complex<float>>, ComplexProduct)   \
  X(multiply, complex128, Plain<Complex<double>>, ComplexProduct) \
  PARLEY_QUOTIENT(X, u8, Plain<std::uint8_t>)                     \
  PARLEY_SIGNED(PARLEY_QUOTIENT, X)

}  // namespace parley::tensor::device
