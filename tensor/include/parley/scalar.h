#pragma once

#include <parley/dtype.h>
#include <parley/export.h>

#include <complex>
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

namespace parley {

// C++ types that a Scalar converts to: those of a tensor that are one number.
template <typename T>
concept has_scalar = has_dtype<T> && !detail::is_value_index<T>;

// One number of any element type: what fill() takes and item() reads. Keeps 64-bit integers exact.
class PARLEY_API Scalar {
 public:
  // NOLINTBEGIN(google-explicit-constructor): fill(1), fill(2.5)
  template <std::integral Integer>
  Scalar(Integer value) : integer_(static_cast<std::int64_t>(value)) {
    if (!std::in_range<std::int64_t>(static_cast<decltype(+value)>(value))) refuse_integer();
  }
  Scalar(char value) noexcept : integer_(static_cast<unsigned char>(value)) {}  // a u8, as char is
  Scalar(std::byte value) noexcept : integer_(std::to_integer<std::int64_t>(value)) {}
  Scalar(float value) noexcept : Scalar(static_cast<double>(value)) {}
  Scalar(double value) noexcept : kind_(Kind::real), real_(value) {}
  Scalar(float16 value) noexcept : Scalar(static_cast<float>(value)) {}
  Scalar(bfloat16 value) noexcept : Scalar(static_cast<float>(value)) {}
  Scalar(std::complex<float> value) noexcept : Scalar(std::complex<double>(value)) {}
  Scalar(std::complex<double> value) noexcept
      : kind_(Kind::complex), real_(value.real()), imaginary_(value.imag()) {}
  // NOLINTEND

  // As T. Floating-point types round to nearest, ties to even; everything else must be exact. Throws
  // UsageError when the value is not in T's range, is no integer where T is one, or has an imaginary part
  // where T has none.
  template <typename T>
  requires has_scalar<T>
  [[nodiscard]] T to() const;

  // "1", "2.5", "(1,2)".
  [[nodiscard]] std::string to_string() const;

 private:
  enum class Kind : std::uint8_t { integer, real, complex };
  [[noreturn]] static void refuse_integer();
  [[nodiscard]] std::int64_t to_integer(std::int64_t low, std::int64_t high, DType dtype) const;
  [[nodiscard]] double to_real(DType dtype) const;
  [[noreturn]] void refuse(DType dtype) const;

  Kind kind_ = Kind::integer;
  std::int64_t integer_ = 0;
  double real_ = 0;
  double imaginary_ = 0;
};

}  // namespace parley
