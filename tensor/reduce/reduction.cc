#include "tensor/reduce/reduction.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "tensor/reduce/choice.h"
#include "tensor/reduce/element_kernels.h"

namespace parley::tensor {
namespace {

using Kind = ReduceOp::Kind;

FoldKernel fold_kernel(Kind kind, DType dtype, const Kernels& kernels) noexcept {
  switch (fold_method(kind, dtype)) {
    case FoldMethod::function: return nullptr;
    case FoldMethod::location: return location_kernel(kind, dtype);
    case FoldMethod::complex_product: return complex_product_kernel(dtype);
    case FoldMethod::cell: break;
  }
  const Cell cell = cell_of(kind, dtype);
  return kernels.fold[static_cast<std::size_t>(cell.lane)][static_cast<std::size_t>(cell.combine)];
}

ScaleKernel prepare_kernel(DType dtype, const Kernels& kernels) noexcept {
  if (is_complex(dtype)) return complex_scale_kernel(dtype);
  return kernels.multiply[static_cast<std::size_t>(cell_of(Kind::premul_sum, dtype).lane)];
}

ScaleKernel finish_kernel(DType dtype, const Kernels& kernels) noexcept {
  if (!divides_in_lane(dtype)) return integer_division_kernel(dtype);
  return kernels.divide[static_cast<std::size_t>(cell_of(Kind::avg, dtype).lane)];
}

}  // namespace

Reduction::Reduction(const ReduceOp& op, DType dtype, const Kernels& kernels)
    : dtype_(dtype), op_(checked(op, dtype)) {
  fold_ = fold_kernel(op.kind(), dtype, kernels);
  if (op.kind() == Kind::avg) finish_ = finish_kernel(dtype, kernels);
  if (op.kind() == Kind::premul_sum) {
    prepare_ = prepare_kernel(dtype, kernels);
    factor_ = factor_of(op, dtype);
  }
}

void Reduction::prepare(void* to, const void* from, std::size_t count) const noexcept {
  prepare_(to, from, factor_.data(), count * size_of(dtype_));
}

void Reduction::finish(void* elements, std::size_t count, std::int64_t ranks) const noexcept {
  const ElementBytes divisor = divisor_of(dtype_, ranks);
  finish_(elements, elements, divisor.data(), count * size_of(dtype_));
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
