#pragma once

#include <parley/float16.h>

#include <bit>
#include <cstdint>

#include "tensor/reduce/element_operations.h"

// How an element in memory becomes a number to compute with (unpack), and a result an element (pack): the
// device's lanes.h. All is constexpr, which nvcc compiles for the device, and any compiler for the tests.
namespace parley::tensor::device {

// As they are: integers, complex numbers, pairs.
template <typename T>
struct Plain {
  using Stored = T;
  using Number = T;
  static constexpr Number unpack(Stored stored) noexcept { return stored; }
  static constexpr Stored pack(Number number) noexcept { return number; }
};

// Bytes of which only the bits count.
struct Bits : Plain<std::uint8_t> {};

template <typename T>
struct Floats {
  using Stored = T;
  using Number = T;
  static constexpr Number unpack(Stored stored) noexcept { return stored; }
  static constexpr Stored pack(Number number) noexcept { return canonical(number); }
};

// One instruction on a device, which has another NaN.
struct Halves {
  using Stored = std::uint16_t;
  using Number = float;
  static constexpr Number unpack(Stored stored) noexcept {
#if defined(__CUDA_ARCH__)
    float number;
    asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(stored));
    return number;
#else
    return parley::detail::f16_bits_to_float(stored);
#endif
  }
  static constexpr Stored pack(Number number) noexcept {
#if defined(__CUDA_ARCH__)
    Stored stored;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(stored) : "f"(number));
    return is_nan(number) ? Stored{0x7e00} : stored;
#else
    return parley::detail::float_to_f16_bits(canonical(number));
#endif
  }
};

struct Brains {
  using Stored = std::uint16_t;
  using Number = float;
  static constexpr Number unpack(Stored stored) noexcept {
    return parley::detail::bf16_bits_to_float(stored);
  }
  static constexpr Stored pack(Number number) noexcept {
    return parley::detail::float_to_bf16_bits(canonical(number));
  }
};

// Zero or not; written as 0 or 1.
template <typename T>
struct Truths {
  using Stored = T;
  using Number = T;
  static constexpr Number unpack(Stored stored) noexcept { return stored != 0; }
  static constexpr Stored pack(Number number) noexcept { return number; }
};

// What fills a vector of a format: where only bits count, the widest integer does.
template <typename Format>
struct VectorOf {
  using Type = Format;
};
template <>
struct VectorOf<Bits> {
  using Type = Plain<std::uint64_t>;
};

}  // namespace parley::tensor::device
