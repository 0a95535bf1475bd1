#pragma once

#include <parley/float16.h>

#include "tensor/reduce/vector.h"

// float16 to float, exactly, and back, to nearest and ties to even.
namespace parley::tensor::PARLEY_ISA {

// Twice as many floats as a register holds: what a register of 16-bit numbers becomes.
struct FloatPair {
  Vector<float> first;
  Vector<float> second;
};

#if PARLEY_VECTOR_BYTES == 64

// With a mask of ones, as the forms without take an undefined register, of which GCC 12 warns (GCC bug
// 105593).
inline constexpr __mmask16 all_lanes = 0xffff;

inline FloatPair half_to_float(Raw raw) noexcept {
  const auto words = as<long long>(raw);
  const __m256i first = __builtin_shufflevector(words, words, 0, 1, 2, 3);
  const __m256i second = __builtin_shufflevector(words, words, 4, 5, 6, 7);
  return {reinterpret_cast<Vector<float>>(_mm512_maskz_cvtph_ps(all_lanes, first)),
          reinterpret_cast<Vector<float>>(_mm512_maskz_cvtph_ps(all_lanes, second))};
}
inline __m256i float_to_half(Vector<float> x) noexcept {
  return _mm512_maskz_cvtps_ph(all_lanes, reinterpret_cast<__m512>(x), _MM_FROUND_TO_NEAREST_INT);
}
inline Raw float_to_half(FloatPair pair) noexcept {
  return as<std::uint8_t>(
      __builtin_shufflevector(float_to_half(pair.first), float_to_half(pair.second), 0, 1, 2, 3, 4, 5, 6, 7));
}

#elif PARLEY_VECTOR_BYTES == 32

inline FloatPair half_to_float(Raw raw) noexcept {
  const auto words = as<long long>(raw);
  const __m128i first = __builtin_shufflevector(words, words, 0, 1);
  const __m128i second = __builtin_shufflevector(words, words, 2, 3);
  return {reinterpret_cast<Vector<float>>(_mm256_cvtph_ps(first)),
          reinterpret_cast<Vector<float>>(_mm256_cvtph_ps(second))};
}
inline __m128i float_to_half(Vector<float> x) noexcept {
  return _mm256_cvtps_ph(reinterpret_cast<__m256>(x), _MM_FROUND_TO_NEAREST_INT);
}
inline Raw float_to_half(FloatPair pair) noexcept {
  return as<std::uint8_t>(
      __builtin_shufflevector(float_to_half(pair.first), float_to_half(pair.second), 0, 1, 2, 3));
}

#elif defined(__aarch64__)

using FourHalves [[gnu::vector_size(8)]] = __fp16;

inline FloatPair half_to_float(Raw raw) noexcept {
  FourHalves halves[2];
  __builtin_memcpy(halves, &raw, sizeof(raw));
  return {__builtin_convertvector(halves[0], Vector<float>),
          __builtin_convertvector(halves[1], Vector<float>)};
}
inline Raw float_to_half(FloatPair pair) noexcept {
  const FourHalves halves[2] = {__builtin_convertvector(pair.first, FourHalves),
                                __builtin_convertvector(pair.second, FourHalves)};
  return load(reinterpret_cast<const std::byte*>(halves));
}

#else

// Only in the portable kernels, so that the functions of <parley/float16.h> are compiled for any machine. Not
// inlined: there would be hundreds of copies.
[[gnu::noinline]] inline FloatPair half_to_float(Raw raw) noexcept {
  const auto halves = as<std::uint16_t>(raw);
  FloatPair pair;
  for (int i = 0; i < 4; ++i) {
    pair.first[i] = parley::detail::f16_bits_to_float(halves[i]);
    pair.second[i] = parley::detail::f16_bits_to_float(halves[i + 4]);
  }
  return pair;
}
[[gnu::noinline]] inline Raw float_to_half(FloatPair pair) noexcept {
  Vector<std::uint16_t> halves;
  for (int i = 0; i < 4; ++i) {
    halves[i] = parley::detail::float_to_f16_bits(pair.first[i]);
    halves[i + 4] = parley::detail::float_to_f16_bits(pair.second[i]);
  }
  return as<std::uint8_t>(halves);
}

#endif

}  // namespace parley::tensor::PARLEY_ISA
