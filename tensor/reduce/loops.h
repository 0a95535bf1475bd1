#pragma once

#include "tensor/reduce/combine.h"
#include "tensor/reduce/lanes.h"

// The loops of all kernels; see kernels.h for what they promise.
namespace parley::tensor::PARLEY_ISA {

template <typename Format>
typename Format::Lanes unpack_at(const void* operand, std::size_t at) noexcept {
  return Format::unpack(load(static_cast<const std::byte*>(operand) + at));
}

inline constexpr std::size_t unroll = 4;  // vectors in a round of the loops
inline constexpr std::size_t round_bytes = unroll * vector_bytes;

// A number of operands that the compiler knows: all pointers stay in registers.
template <typename Format, typename Op, std::size_t operand_count>
std::size_t fold_fixed(std::byte* to, const void* const* operands, std::size_t at,
                       std::size_t bytes) noexcept {
  const void* from[operand_count];
  for (std::size_t i = 0; i < operand_count; ++i) from[i] = operands[i];
  for (; at + round_bytes <= bytes; at += round_bytes)
#pragma GCC unroll 4
    for (std::size_t u = 0; u < unroll; ++u) {
      const std::size_t here = at + u * vector_bytes;
      auto lanes = unpack_at<Format>(from[0], here);
#pragma GCC unroll 8
      for (std::size_t i = 1; i < operand_count; ++i)
        lanes = combine<Op>(lanes, unpack_at<Format>(from[i], here));
      store(to + here, Format::pack(lanes));
    }
  return at;
}

// Any number: each pointer is read once for a round. Nothing of a round is written before all of its operands
// were read, as `to` may be one of them.
template <typename Format, typename Op>
std::size_t fold_many(std::byte* to, const void* const* operands, std::size_t operand_count, std::size_t at,
                      std::size_t bytes) noexcept {
  for (; at + round_bytes <= bytes; at += round_bytes) {
    typename Format::Lanes lanes[unroll];
#pragma GCC unroll 4
    for (std::size_t u = 0; u < unroll; ++u) lanes[u] = unpack_at<Format>(operands[0], at + u * vector_bytes);
    for (std::size_t i = 1; i < operand_count; ++i) {
      const void* const operand = operands[i];
#pragma GCC unroll 4
      for (std::size_t u = 0; u < unroll; ++u)
        lanes[u] = combine<Op>(lanes[u], unpack_at<Format>(operand, at + u * vector_bytes));
    }
#pragma GCC unroll 4
    for (std::size_t u = 0; u < unroll; ++u) store(to + at + u * vector_bytes, Format::pack(lanes[u]));
  }
  return at;
}

// One vector of the result. `load_from` takes all of it or a part.
template <typename Format, typename Op, typename Load>
Raw fold_vector(const void* const* operands, std::size_t operand_count, const Load& load_from) noexcept {
  auto lanes = Format::unpack(load_from(static_cast<const std::byte*>(operands[0])));
  for (std::size_t i = 1; i < operand_count; ++i)
    lanes = combine<Op>(lanes, Format::unpack(load_from(static_cast<const std::byte*>(operands[i]))));
  return Format::pack(lanes);
}

// What is left from `at` on, vector by vector, and a part of one at the end.
template <typename Format, typename Op>
void fold_rest(std::byte* to, const void* const* operands, std::size_t operand_count, std::size_t at,
               std::size_t bytes) noexcept {
  for (; at + vector_bytes <= bytes; at += vector_bytes) {
    const auto load_from = [at](const std::byte* operand) { return load(operand + at); };
    store(to + at, fold_vector<Format, Op>(operands, operand_count, load_from));
  }
  if (const std::size_t part = bytes - at; part > 0) {
    const auto load_from = [at, part](const std::byte* operand) { return load_part(operand + at, part); };
    store_part(to + at, fold_vector<Format, Op>(operands, operand_count, load_from), part);
  }
}

// Bytes up to where whole vectors are aligned. Only for the distances that malloc gives, which no element
// straddles; operands that malloc gave are then aligned, too.
inline std::size_t bytes_to_alignment(const void* memory) noexcept {
  const std::size_t bytes = -reinterpret_cast<std::uintptr_t>(memory) % vector_bytes;
  return bytes % 16 == 0 ? bytes : 0;
}

// Two operands have a loop of their own, sums of four and eight also have one. Not inlined, so that a call
// for a few elements does not pay for the registers that these loops need.
template <typename Format, typename Op>
[[gnu::noinline]] void fold_rounds(std::byte* to, const void* const* operands, std::size_t operand_count,
                                   std::size_t bytes) noexcept {
  std::size_t at = bytes_to_alignment(to);
  if (at > 0) fold_rest<Format, Op>(to, operands, operand_count, 0, at);
  const auto rounds = [&] {
    if (operand_count == 2) return fold_fixed<Format, Op, 2>(to, operands, at, bytes);
    if constexpr (std::is_same_v<Op, Add>) {
      if (operand_count == 4) return fold_fixed<Format, Op, 4>(to, operands, at, bytes);
      if (operand_count == 8) return fold_fixed<Format, Op, 8>(to, operands, at, bytes);
    }
    return fold_many<Format, Op>(to, operands, operand_count, at, bytes);
  };
  at = rounds();
  fold_rest<Format, Op>(to, operands, operand_count, at, bytes);
}

template <typename Format, typename Op>
void fold(void* to, const void* const* operands, std::size_t operand_count, std::size_t bytes) noexcept {
  auto* const result = static_cast<std::byte*>(to);
  if (bytes >= 2 * round_bytes) return fold_rounds<Format, Op>(result, operands, operand_count, bytes);
  fold_rest<Format, Op>(result, operands, operand_count, 0, bytes);
}

template <typename Format>
typename Format::Lanes splat_lanes(typename Format::Number number) noexcept {
  if constexpr (std::is_same_v<typename Format::Lanes, FloatPair>) {
    return {splat(number), splat(number)};
  } else {
    return splat(number);
  }
}

template <typename Format, typename Op>
void scale(void* to, const void* from, const void* factor, std::size_t bytes) noexcept {
  typename Format::Number number;
  __builtin_memcpy(&number, factor, sizeof(number));
  const auto factors = splat_lanes<Format>(number);
  auto* const result = static_cast<std::byte*>(to);
  const auto* const operand = static_cast<const std::byte*>(from);
  std::size_t at = 0;
  for (; at + vector_bytes <= bytes; at += vector_bytes)
    store(result + at, Format::pack(combine<Op>(Format::unpack(load(operand + at)), factors)));
  if (const std::size_t rest = bytes - at; rest > 0)
    store_part(result + at, Format::pack(combine<Op>(Format::unpack(load_part(operand + at, rest)), factors)),
               rest);
}

}  // namespace parley::tensor::PARLEY_ISA
