#pragma once

#include "tensor/reduce/vector.h"

// a < b ? a : b in each lane: b where the numbers are equal or one is a NaN. That is what x86's minimum does;
// its compilers do not always see it in the expression.
namespace parley::tensor::PARLEY_ISA {

#if PARLEY_VECTOR_BYTES == 64
inline Vector<float> lesser(Vector<float> a, Vector<float> b) noexcept {
  return as<float>(_mm512_maskz_min_ps(0xffff, reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b)));
}
inline Vector<double> lesser(Vector<double> a, Vector<double> b) noexcept {
  return as<double>(_mm512_maskz_min_pd(0xff, reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(b)));
}
#elif PARLEY_VECTOR_BYTES == 32
inline Vector<float> lesser(Vector<float> a, Vector<float> b) noexcept {
  return as<float>(_mm256_min_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b)));
}
inline Vector<double> lesser(Vector<double> a, Vector<double> b) noexcept {
  return as<double>(_mm256_min_pd(reinterpret_cast<__m256d>(a), reinterpret_cast<__m256d>(b)));
}
#elif defined(__x86_64__)
inline Vector<float> lesser(Vector<float> a, Vector<float> b) noexcept {
  return as<float>(_mm_min_ps(reinterpret_cast<__m128>(a), reinterpret_cast<__m128>(b)));
}
inline Vector<double> lesser(Vector<double> a, Vector<double> b) noexcept {
  return as<double>(_mm_min_pd(reinterpret_cast<__m128d>(a), reinterpret_cast<__m128d>(b)));
}
#else
template <typename V>
V lesser(V a, V b) noexcept {
  return a < b ? a : b;
}
#endif

}  // namespace parley::tensor::PARLEY_ISA
