#include "tensor/reduce/reduction.h"

#include <parley/error.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "tensor/reduce/element_kernels.h"
#include "transport/base/log.h"

namespace parley::tensor {
namespace {

using Kind = ReduceOp::Kind;

struct Cell {
  Lane lane;
  Combine combine;
};

// The lane of a type's numbers. REQUIRES: an integer, floating-point or complex type
Lane lane_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::i8: return Lane::i8;
    case DType::i16: return Lane::i16;
    case DType::i32: return Lane::i32;
    case DType::i64: return Lane::i64;
    case DType::f16: return Lane::f16;
    case DType::bf16: return Lane::bf16;
    case DType::f32:
    case DType::complex64: return Lane::f32;
    case DType::f64:
    case DType::complex128: return Lane::f64;
    default: return Lane::u8;
  }
}

// The one of four neighbouring lanes that has this width.
Lane of_width(Lane first, DType dtype) noexcept {
  const std::size_t step = size_of(dtype) == 8 ? 3 : size_of(dtype) / 2;
  return static_cast<Lane>(static_cast<std::size_t>(first) + step);
}

Cell cell_of_bool(Kind kind) noexcept {
  switch (kind) {
    case Kind::bxor: return {Lane::truth8, Combine::bit_xor};
    case Kind::sum:
    case Kind::max:
    case Kind::bor:
    case Kind::lor: return {Lane::truth8, Combine::bit_or};
    default: return {Lane::truth8, Combine::bit_and};
  }
}

// REQUIRES: reason_against(kind, dtype) is empty
Cell cell_of(Kind kind, DType dtype) noexcept {
  if (dtype == DType::boolean) return cell_of_bool(kind);
  const bool is_integer = !is_floating_point(dtype) && !is_complex(dtype);
  const Lane lane = lane_of(dtype);
  const Lane wrapping = is_integer ? of_width(Lane::u8, dtype) : lane;
  switch (kind) {
    case Kind::product: return {wrapping, Combine::multiply};
    case Kind::min: return {lane, Combine::minimum};
    case Kind::max: return {lane, Combine::maximum};
    case Kind::band: return {Lane::u8, Combine::bit_and};
    case Kind::bor: return {Lane::u8, Combine::bit_or};
    case Kind::bxor: return {Lane::u8, Combine::bit_xor};
    case Kind::land: return {of_width(Lane::truth8, dtype), Combine::bit_and};
    case Kind::lor: return {of_width(Lane::truth8, dtype), Combine::bit_or};
    default: return {wrapping, Combine::add};
  }
}

FoldKernel fold_kernel(Kind kind, DType dtype, const Kernels& kernels) noexcept {
  if (kind == Kind::custom) return nullptr;
  if (is_pair(dtype)) return location_kernel(kind, dtype);
  if (is_complex(dtype) && kind == Kind::product) return complex_product_kernel(dtype);
  const Cell cell = cell_of(kind, dtype);
  return kernels.fold[static_cast<std::size_t>(cell.lane)][static_cast<std::size_t>(cell.combine)];
}

ScaleKernel prepare_kernel(DType dtype, const Kernels& kernels) noexcept {
  if (is_complex(dtype)) return complex_scale_kernel(dtype);
  return kernels.multiply[static_cast<std::size_t>(cell_of(Kind::premul_sum, dtype).lane)];
}

ScaleKernel finish_kernel(DType dtype, const Kernels& kernels) noexcept {
  if (!is_floating_point(dtype) && !is_complex(dtype)) return integer_division_kernel(dtype);
  return kernels.divide[static_cast<std::size_t>(lane_of(dtype))];
}

// The type in which the factor meets the elements.
DType factor_type(DType dtype) noexcept {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

ReduceOp checked(const ReduceOp& op, DType dtype) {
  if (const auto reason = reason_against(op.kind(), dtype); !reason.empty())
    throw UsageError(base::concat(name(op), " of ", name(dtype), ": ", reason));
  return op;
}

}  // namespace

Reduction::Reduction(const ReduceOp& op, DType dtype, const Kernels& kernels)
    : dtype_(dtype), op_(checked(op, dtype)) {
  fold_ = fold_kernel(op.kind(), dtype, kernels);
  if (op.kind() == Kind::avg) finish_ = finish_kernel(dtype, kernels);
  if (op.kind() == Kind::premul_sum) {
    prepare_ = prepare_kernel(dtype, kernels);
    factor_ = encode(op.factor(), factor_type(dtype));
  }
}

void Reduction::prepare(void* to, const void* from, std::size_t count) const noexcept {
  prepare_(to, from, factor_.data(), count * size_of(dtype_));
}

void Reduction::finish(void* elements, std::size_t count, std::int64_t ranks) const noexcept {
  const auto single = static_cast<float>(ranks);
  const auto wide = static_cast<double>(ranks);
  const void* divisor = &ranks;
  if (is_floating_point(dtype_) || is_complex(dtype_))
    divisor = lane_of(dtype_) == Lane::f64 ? static_cast<const void*>(&wide) : &single;
  finish_(elements, elements, divisor, count * size_of(dtype_));
}

// In pieces, as `to` may be an operand that comes later: the result so far is kept elsewhere.
void Reduction::fold_custom(void* to, std::span<const void* const> operands,
                            std::size_t count) const noexcept {
  const ReduceFunction& function = op_.function();
  const std::size_t size = size_of(dtype_);
  if (operands.size() == 1) {
    std::memmove(to, operands[0], count * size);
  } else if (operands.size() == 2) {
    if (count > 0) function(to, operands[0], operands[1], count, dtype_);
  } else {
    alignas(64) std::array<std::byte, 4096> piece;
    for (std::size_t at = 0; at < count; at += piece.size() / size) {
      const std::size_t some = std::min(count - at, piece.size() / size);
      const auto operand = [&](std::size_t i) {
        return static_cast<const std::byte*>(operands[i]) + at * size;
      };
      function(piece.data(), operand(0), operand(1), some, dtype_);
      for (std::size_t i = 2; i < operands.size(); ++i)
        function(piece.data(), piece.data(), operand(i), some, dtype_);
      std::memcpy(static_cast<std::byte*>(to) + at * size, piece.data(), some * size);
    }
  }
}

}  // namespace parley::tensor
