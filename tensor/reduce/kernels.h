#pragma once

#include <cstddef>
#include <cstdint>

// Tables of the reduction kernels, one for each instruction set. The same operands give the same bits with
// every table: one definition of each operation (lanes.h, combine.h), no contraction to fused multiply-adds,
// NaNs made canonical.
//
// All pointers may be unaligned, `to` may be exactly one of the operands or `from`; other overlaps are not
// allowed.
namespace parley::tensor {

// How the bytes of an array become numbers.
enum class Lane : std::uint8_t {
  u8,
  u16,
  u32,
  u64,
  i8,
  i16,
  i32,
  i64,
  f16,
  bf16,
  f32,
  f64,
  truth8,  // integers of which only zero or not counts; written as 0 or 1
  truth16,
  truth32,
  truth64,
};
inline constexpr std::size_t lane_count = 16;

enum class Combine : std::uint8_t { add, multiply, minimum, maximum, bit_and, bit_or, bit_xor };
inline constexpr std::size_t combine_count = 7;

// to := ((operand 0 ∘ operand 1) ∘ operand 2) ∘ ..., in one pass. `bytes` of each array: whole elements.
// REQUIRES: operand_count >= 1
using FoldKernel = void (*)(void* to, const void* const* operands, std::size_t operand_count,
                            std::size_t bytes) noexcept;

// to := from ∘ factor. The factor is of the type in which the lanes compute: float for f16 and bf16.
using ScaleKernel = void (*)(void* to, const void* from, const void* factor, std::size_t bytes) noexcept;

// Null where the combination makes no sense: bits of floating-point lanes, the sum of truths; signed lanes
// have minimum and maximum only, as everything else is that of unsigned ones.
struct Kernels {
  FoldKernel fold[lane_count][combine_count];
  ScaleKernel multiply[lane_count];
  ScaleKernel divide[lane_count];  // floating-point lanes
};

enum class Isa : std::uint8_t { portable, avx2, avx512 };

// Null where this machine or this build lacks it. On ARM, `portable` is NEON.
[[nodiscard]] const Kernels* kernels_of(Isa isa) noexcept;
[[nodiscard]] const char* name(Isa isa) noexcept;

// Those of the widest instruction set, found once.
[[nodiscard]] const Kernels& best_kernels() noexcept;

extern const Kernels portable_kernels;
#if defined(__x86_64__)
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;
#endif

}  // namespace parley::tensor
