#pragma once

#include "tensor/reduce/half.h"
#include "tensor/reduce/vector.h"

// How the bytes of a vector become numbers to compute with (unpack), and how results become bytes (pack).
namespace parley::tensor::PARLEY_ISA {

// The quiet NaN without payload in place of any other, so that a result does not depend on which operand an
// instruction takes its NaN from.
#if PARLEY_VECTOR_BYTES == 64
// One instruction instead of two: by the class of each lane, NaNs (0) keep the first operand and all else (1)
// is the second.
inline constexpr int keep_nans_only = 0x11111100;
inline Vector<float> canonical(Vector<float> x) noexcept {
  return reinterpret_cast<Vector<float>>(_mm512_fixupimm_ps(reinterpret_cast<__m512>(splat(0x7fc00000u)),
                                                            reinterpret_cast<__m512>(x),
                                                            _mm512_set1_epi32(keep_nans_only), 0));
}
inline Vector<double> canonical(Vector<double> x) noexcept {
  return reinterpret_cast<Vector<double>>(
      _mm512_fixupimm_pd(reinterpret_cast<__m512d>(splat(std::uint64_t{0x7ff8000000000000})),
                         reinterpret_cast<__m512d>(x), _mm512_set1_epi64(keep_nans_only), 0));
}
#else
inline Vector<float> canonical(Vector<float> x) noexcept {
  return x == x ? x : as<float>(splat(0x7fc00000u));  // NOLINT(misc-redundant-expression): not for a NaN
}
inline Vector<double> canonical(Vector<double> x) noexcept {
  // NOLINTNEXTLINE(misc-redundant-expression)
  return x == x ? x : as<double>(splat(std::uint64_t{0x7ff8000000000000}));
}
#endif

template <typename T>
struct Integers {
  using Number = T;
  using Lanes = Vector<T>;
  static Lanes unpack(Raw raw) noexcept { return as<T>(raw); }
  static Raw pack(Lanes lanes) noexcept { return as<std::uint8_t>(lanes); }
};

template <typename T>
struct Floats {
  using Number = T;
  using Lanes = Vector<T>;
  static Lanes unpack(Raw raw) noexcept { return as<T>(raw); }
  static Raw pack(Lanes lanes) noexcept { return as<std::uint8_t>(canonical(lanes)); }
};

struct Halves {
  using Number = float;
  using Lanes = FloatPair;
  static Lanes unpack(Raw raw) noexcept { return half_to_float(raw); }
  static Raw pack(Lanes lanes) noexcept {
    return float_to_half({canonical(lanes.first), canonical(lanes.second)});
  }
};

// Two bfloat16 lie in each word of 32 bits: each is the upper half of a float. So no lane has to move.
struct Brains {
  using Number = float;
  using Lanes = FloatPair;
  using Words = Vector<std::uint32_t>;
  static Lanes unpack(Raw raw) noexcept {
    const auto words = as<std::uint32_t>(raw);
    return {as<float>(words << 16), as<float>(words & 0xffff0000u)};
  }
  static Raw pack(Lanes lanes) noexcept {
    return as<std::uint8_t>((rounded(lanes.first) >> 16) | (rounded(lanes.second) & 0xffff0000u));
  }
  // To nearest, ties to even; what lies below the upper half is rubbish. A NaN is canonical: no carry reaches
  // it.
  static Words rounded(Vector<float> x) noexcept {
    const auto bits = as<std::uint32_t>(canonical(x));
    return bits + 0x7fffu + ((bits >> 16) & 1u);
  }
};

// All bits set for what is not zero.
template <typename T>
struct Truths {
  using Lanes = Vector<T>;
  static Lanes unpack(Raw raw) noexcept { return reinterpret_cast<Lanes>(as<T>(raw) != Lanes{}); }
  static Raw pack(Lanes lanes) noexcept { return as<std::uint8_t>(lanes & splat(T{1})); }
};

// The maximum is the negative of the minimum of the negatives: see combine.h.
template <typename Format>
struct Negated {
  using Lanes = typename Format::Lanes;
  static Lanes unpack(Raw raw) noexcept { return negative(Format::unpack(raw)); }
  static Raw pack(Lanes lanes) noexcept { return Format::pack(negative(lanes)); }
  static FloatPair negative(FloatPair pair) noexcept { return {-pair.first, -pair.second}; }
  static Vector<float> negative(Vector<float> x) noexcept { return -x; }
  static Vector<double> negative(Vector<double> x) noexcept { return -x; }
};

}  // namespace parley::tensor::PARLEY_ISA
