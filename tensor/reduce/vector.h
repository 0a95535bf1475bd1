#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// One register of an instruction set. The .cc file that makes the kernels of one defines both macros before
// it includes anything, and CMake compiles it with the flags of that set.
//
// So everything here lies in a namespace of its own per set, and nothing with a body may come from outside:
// where the compiler does not inline a function of the standard library, the linker would keep one copy for
// all, perhaps the one with instructions that this machine lacks.
#ifndef PARLEY_ISA
#define PARLEY_ISA portable
#define PARLEY_VECTOR_BYTES 16
#endif

namespace parley::tensor::PARLEY_ISA {

inline constexpr std::size_t vector_bytes = PARLEY_VECTOR_BYTES;

template <typename T>
struct VectorOf {
  using Type [[gnu::vector_size(PARLEY_VECTOR_BYTES)]] = T;
};
template <typename T>
using Vector = typename VectorOf<T>::Type;

using Raw = Vector<std::uint8_t>;

// The same bits as elements of T.
template <typename T, typename V>
Vector<T> as(V vector) noexcept {
  return reinterpret_cast<Vector<T>>(vector);
}

template <typename T>
Vector<T> splat(T value) noexcept {
  Vector<T> vector = {};
  for (std::size_t i = 0; i < vector_bytes / sizeof(T); ++i) vector[i] = value;
  return vector;
}

inline Raw load(const std::byte* from) noexcept {
  Raw raw;
  __builtin_memcpy(&raw, from, sizeof(raw));
  return raw;
}

inline void store(std::byte* to, Raw raw) noexcept {
  __builtin_memcpy(to, &raw, sizeof(raw));
}

// The first `bytes` of a vector, zeros behind them. REQUIRES: 0 < bytes < vector_bytes
#if PARLEY_VECTOR_BYTES == 64
inline Raw load_part(const std::byte* from, std::size_t bytes) noexcept {
  return reinterpret_cast<Raw>(_mm512_maskz_loadu_epi8((1ull << bytes) - 1, from));
}
inline void store_part(std::byte* to, Raw raw, std::size_t bytes) noexcept {
  _mm512_mask_storeu_epi8(to, (1ull << bytes) - 1, reinterpret_cast<__m512i>(raw));
}
#else
template <std::size_t size>
std::size_t copy_piece(std::byte* to, const std::byte* from, std::size_t bytes, std::size_t at) noexcept {
  if ((bytes & size) == 0) return at;
  __builtin_memcpy(to + at, from + at, size);
  return at + size;
}
// In five pieces at most, whatever the elements are. Not inlined: each kernel would have it several times.
[[gnu::noinline]] inline void copy_part(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::size_t at = copy_piece<16>(to, from, bytes, 0);
  at = copy_piece<8>(to, from, bytes, at);
  at = copy_piece<4>(to, from, bytes, at);
  at = copy_piece<2>(to, from, bytes, at);
  copy_piece<1>(to, from, bytes, at);
}
inline Raw load_part(const std::byte* from, std::size_t bytes) noexcept {
  alignas(vector_bytes) std::byte whole[vector_bytes] = {};
  copy_part(whole, from, bytes);
  return load(whole);
}
inline void store_part(std::byte* to, Raw raw, std::size_t bytes) noexcept {
  alignas(vector_bytes) std::byte whole[vector_bytes];
  store(whole, raw);
  copy_part(to, whole, bytes);
}
#endif

}  // namespace parley::tensor::PARLEY_ISA
