#include <parley/scalar.h>

#include <parley/error.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "transport/base/log.h"

namespace parley {
namespace {

template <typename T>
inline constexpr bool is_complex = false;
template <typename T>
inline constexpr bool is_complex<std::complex<T>> = true;

// Conversions that cut off instead of rounding, and set the last bit when something was lost ("round to
// odd"). A second rounding to a type that is at least two bits narrower then gives what a single one would.
double cut_to_double(std::int64_t value) noexcept {
  constexpr std::uint64_t lost_bits = 0x7ff;  // 64 less the 53 of a double
  const auto bits = static_cast<std::uint64_t>(value);
  std::uint64_t magnitude = value < 0 ? 0 - bits : bits;
  if (magnitude > (1ull << 53) && (magnitude & lost_bits) != 0)
    magnitude = (magnitude & ~lost_bits) | (lost_bits + 1);
  const auto result = static_cast<double>(magnitude);
  return value < 0 ? -result : result;
}
float cut_to_float(double value) noexcept {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;  // one step towards zero
  return std::bit_cast<float>(bits | 1);
}

std::string real_to_string(double value) {
  std::array<char, 32> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), result.ptr};
}

// The floating-point type T nearest to `value`, infinite when that is beyond T.
template <typename T>
T nearest(double value) noexcept {
  if constexpr (sizeof(T) == 2) return T(cut_to_float(value));
  if constexpr (sizeof(T) > 2) return static_cast<T>(value);
}

}  // namespace

void Scalar::refuse_integer() {
  throw UsageError("integers beyond 2^63 - 1 fit no element type");
}

void Scalar::refuse(DType dtype) const {
  throw UsageError(base::concat(to_string(), " cannot be stored as ", name(dtype)));
}

std::string Scalar::to_string() const {
  switch (kind_) {
    case Kind::integer: return std::to_string(integer_);
    case Kind::real: return real_to_string(real_);
    case Kind::complex: break;
  }
  return base::concat('(', real_to_string(real_), ',', real_to_string(imaginary_), ')');
}

std::int64_t Scalar::to_integer(std::int64_t low, std::int64_t high, DType dtype) const {
  std::int64_t value = integer_;
  if (kind_ != Kind::integer) {
    // The bounds are powers of two, exact as double; a NaN fails the first comparison.
    if (!(real_ >= -0x1p63 && real_ < 0x1p63) || real_ != std::trunc(real_) || !(imaginary_ == 0))
      refuse(dtype);
    value = static_cast<std::int64_t>(real_);
  }
  if (value < low || value > high) refuse(dtype);
  return value;
}

double Scalar::to_real(DType dtype) const {
  if (!(imaginary_ == 0)) refuse(dtype);
  if (kind_ != Kind::integer) return real_;
  return dtype == DType::f64 || dtype == DType::complex128 ? static_cast<double>(integer_)
                                                           : cut_to_double(integer_);
}

template <typename T>
requires has_scalar<T> T Scalar::to()
const {
  constexpr DType dtype = dtype_of<T>;
  if constexpr (std::is_same_v<T, std::byte>) {
    return static_cast<std::byte>(to_integer(0, 255, dtype));
  } else if constexpr (std::is_same_v<T, char>) {
    return static_cast<char>(to_integer(0, 255, dtype));  // a u8, whatever the sign of char
  } else if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    return static_cast<T>(to_integer(Limits::min(), Limits::max(), dtype));
  } else if constexpr (is_complex<T>) {
    using Part = typename T::value_type;
    Scalar real = *this;
    real.imaginary_ = 0;
    const T result(nearest<Part>(real.to_real(dtype)), nearest<Part>(imaginary_));
    const bool overflow = (std::isinf(result.real()) && std::isfinite(real_)) ||
                          (std::isinf(result.imag()) && std::isfinite(imaginary_));
    if (overflow) refuse(dtype);
    return result;
  } else {
    const double real = to_real(dtype);
    const T result = nearest<T>(real);
    if (std::isinf(static_cast<double>(result)) && std::isfinite(real)) refuse(dtype);
    return result;
  }
}

template PARLEY_API std::byte Scalar::to<std::byte>() const;
template PARLEY_API bool Scalar::to<bool>() const;
template PARLEY_API std::uint8_t Scalar::to<std::uint8_t>() const;
template PARLEY_API std::int8_t Scalar::to<std::int8_t>() const;
template PARLEY_API char Scalar::to<char>() const;
template PARLEY_API std::int16_t Scalar::to<std::int16_t>() const;
template PARLEY_API std::int32_t Scalar::to<std::int32_t>() const;
template PARLEY_API long Scalar::to<long>() const;
template PARLEY_API long long Scalar::to<long long>() const;
template PARLEY_API float16 Scalar::to<float16>() const;
template PARLEY_API bfloat16 Scalar::to<bfloat16>() const;
template PARLEY_API float Scalar::to<float>() const;
template PARLEY_API double Scalar::to<double>() const;
template PARLEY_API std::complex<float> Scalar::to<std::complex<float>>() const;
template PARLEY_API std::complex<double> Scalar::to<std::complex<double>>() const;

}  // namespace parley
