#pragma once

#include <bit>
#include <cstdint>

namespace parley {

namespace detail {

// Drops the lowest `shift` bits of `value`, rounding to nearest, ties to even. REQUIRES: 1 <= shift <= 31
constexpr std::uint32_t round_shift(std::uint32_t value, std::uint32_t shift) noexcept {
  const std::uint32_t odd = (value >> shift) & 1;
  return (value + ((1u << (shift - 1)) - 1) + odd) >> shift;
}

constexpr std::uint16_t float_to_f16_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000;
  const std::uint32_t magnitude = bits & 0x7fffffff;
  std::uint32_t result = 0;
  if (magnitude > 0x7f800000) {  // NaN: made quiet, keeps the upper bits of its payload
    result = 0x7e00 | ((magnitude >> 13) & 0x1ff);
  } else if (magnitude >= 0x477ff000) {  // 65520 and above round to infinity
    result = 0x7c00;
  } else if (magnitude >= 0x38800000) {  // 2^-14 and above: normal; the exponent's bias changes by 112
    result = round_shift(magnitude - (112u << 23), 13);
  } else if (magnitude >= 0x33000000) {  // 2^-25 and above: denormal, in units of 2^-24
    const std::uint32_t exponent = magnitude >> 23;
    result = round_shift((magnitude & 0x7fffff) | 0x800000, 126 - exponent);
  }
  return static_cast<std::uint16_t>(sign | result);
}

constexpr float f16_bits_to_float(std::uint16_t half) noexcept {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t mantissa = half & 0x3ffu;
  std::uint32_t magnitude = ((exponent + 112) << 23) | (mantissa << 13);
  if (exponent == 0x1f) magnitude = 0x7f800000 | (mantissa << 13);
  if (exponent == 0) magnitude = std::bit_cast<std::uint32_t>(static_cast<float>(mantissa) * 0x1p-24f);
  return std::bit_cast<float>(sign | magnitude);
}

constexpr std::uint16_t float_to_bf16_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  const std::uint32_t sign = bits & 0x80000000;
  return static_cast<std::uint16_t>((sign >> 16) | round_shift(bits & 0x7fffffff, 16));
}

constexpr float bf16_bits_to_float(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace detail

// IEEE 754 binary16: 5 bits of exponent, 10 of mantissa. For storage: computing is done in float.
// Conversion from float rounds to nearest, ties to even; beyond 65504 it gives infinity; a NaN stays a NaN.
// Conversion to float is exact.
class float16 {
 public:
  float16() = default;  // indeterminate, as for float; float16{} is zero
  constexpr explicit float16(float value) noexcept : bits_(detail::float_to_f16_bits(value)) {}
  [[nodiscard]] static constexpr float16 from_bits(std::uint16_t bits) noexcept {
    float16 result{};
    result.bits_ = bits;
    return result;
  }
  [[nodiscard]] constexpr std::uint16_t bits() const noexcept { return bits_; }
  constexpr operator float() const noexcept { return detail::f16_bits_to_float(bits_); }  // NOLINT

 private:
  std::uint16_t bits_;
};

// The upper half of an IEEE 754 binary32: 8 bits of exponent, 7 of mantissa. Rules as for float16.
class bfloat16 {
 public:
  bfloat16() = default;
  constexpr explicit bfloat16(float value) noexcept : bits_(detail::float_to_bf16_bits(value)) {}
  [[nodiscard]] static constexpr bfloat16 from_bits(std::uint16_t bits) noexcept {
    bfloat16 result{};
    result.bits_ = bits;
    return result;
  }
  [[nodiscard]] constexpr std::uint16_t bits() const noexcept { return bits_; }
  constexpr operator float() const noexcept { return detail::bf16_bits_to_float(bits_); }  // NOLINT

 private:
  std::uint16_t bits_;
};

static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);

}  // namespace parley
