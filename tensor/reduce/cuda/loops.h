#pragma once

#include <type_traits>

#include "tensor/reduce/cuda/arguments.h"
#include "tensor/reduce/cuda/formats.h"
#include "tensor/reduce/cuda/operations.h"
#include "tensor/reduce/cuda/walk.h"

// What one thread of a kernel does. Nothing of a vector is written before all of its operands were read, as
// `to` may be one of them; and no other thread touches these bytes.
namespace parley::tensor::device {

template <typename Format, typename Op, typename Arguments>
PARLEY_DEVICE void fold_vector(const Arguments& arguments, std::uint64_t at) noexcept {
  using Stored = typename Format::Stored;
  constexpr unsigned count = Pack<Stored>::count;
  const auto operand = [&](std::uint64_t i) {
    return load_vector<Stored>(static_cast<const std::byte*>(arguments.operands[i]) + at);
  };
  const Pack<Stored> first = operand(0);
  typename Format::Number numbers[count];
  for (unsigned lane = 0; lane < count; ++lane) numbers[lane] = Format::unpack(first.at[lane]);
  for (std::uint64_t i = 1; i < arguments.operand_count; ++i) {
    const Pack<Stored> next = operand(i);
    for (unsigned lane = 0; lane < count; ++lane)
      numbers[lane] = Op::combine(numbers[lane], Format::unpack(next.at[lane]));
  }
  Pack<Stored> result;
  for (unsigned lane = 0; lane < count; ++lane) result.at[lane] = Format::pack(numbers[lane]);
  store_vector(static_cast<std::byte*>(arguments.to) + at, result);
}

template <typename Format, typename Op, typename Arguments, typename IsAligned>
PARLEY_DEVICE void fold_number(const Arguments& arguments, std::uint64_t at, IsAligned is_aligned) noexcept {
  const auto operand = [&](std::uint64_t i) {
    const auto* from = static_cast<const std::byte*>(arguments.operands[i]) + at;
    return Format::unpack(load_number<typename Format::Stored>(from, is_aligned));
  };
  auto number = operand(0);
#if defined(__CUDACC__)
#pragma unroll(IsAligned::value ? 4 : 1)  // what is rare stays small
#endif
  for (std::uint64_t i = 1; i < arguments.operand_count; ++i) number = Op::combine(number, operand(i));
  store_number(static_cast<std::byte*>(arguments.to) + at, Format::pack(number), is_aligned);
}

template <typename Format, typename Op, typename Arguments>
PARLEY_DEVICE void fold(const Arguments& arguments, Thread thread) noexcept {
  using InVectors = typename VectorOf<Format>::Type;
  take_share<sizeof(typename Format::Stored)>(
      arguments.walk, thread,  //
      [&](std::uint64_t at) { fold_vector<InVectors, Op>(arguments, at); },
      [&](std::uint64_t at, auto is_aligned) { fold_number<Format, Op>(arguments, at, is_aligned); });
}

template <typename Format, typename Op>
PARLEY_DEVICE void scale(const ScaleArguments& arguments, Thread thread) noexcept {
  using Stored = typename Format::Stored;
  using Factor = std::conditional_t<std::is_same_v<Op, Quotient>, std::int64_t, typename Format::Number>;
  auto* const to = static_cast<std::byte*>(arguments.to);
  const auto* const from = static_cast<const std::byte*>(arguments.from);
  const auto factor = load_number<Factor>(arguments.factor, std::true_type{});
  const auto scaled = [&](Stored stored) {
    return Format::pack(Op::combine(Format::unpack(stored), factor));
  };
  const auto at_vector = [&](std::uint64_t at) {
    Pack<Stored> pack = load_vector<Stored>(from + at);
    for (unsigned lane = 0; lane < Pack<Stored>::count; ++lane) pack.at[lane] = scaled(pack.at[lane]);
    store_vector(to + at, pack);
  };
  const auto at_number = [&](std::uint64_t at, auto is_aligned) {
    store_number(to + at, scaled(load_number<Stored>(from + at, is_aligned)), is_aligned);
  };
  take_share<sizeof(Stored)>(arguments.walk, thread, at_vector, at_number);
}

}  // namespace parley::tensor::device
