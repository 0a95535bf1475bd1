#pragma once

#include <parley/dtype.h>
#include <parley/reduce_op.h>

#include <cstddef>
#include <cstring>

#include "tensor/reduce/kernels.h"

// Kernels for what is rare or fits no vector lane: element by element, the same for every instruction set.
namespace parley::tensor {

// REQUIRES: complex64 or complex128. A product is (ac - bd) + (ad + bc)i, whatever is infinite.
[[nodiscard]] FoldKernel complex_product_kernel(DType dtype) noexcept;
[[nodiscard]] ScaleKernel complex_scale_kernel(DType dtype) noexcept;  // the factor is of the same type

// REQUIRES: a pair type and minloc or maxloc
[[nodiscard]] FoldKernel location_kernel(ReduceOp::Kind kind, DType dtype) noexcept;

// Division towards zero. The factor is an int64, as a group may have more ranks than a u8 can tell. REQUIRES:
// an integer type, a factor above 0
[[nodiscard]] ScaleKernel integer_division_kernel(DType dtype) noexcept;

// A FoldKernel from `Op::combine(Element, Element)`.
template <typename Element, typename Op>
void fold_elements(void* to, const void* const* operands, std::size_t operand_count,
                   std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += sizeof(Element)) {
    Element result;
    std::memcpy(&result, static_cast<const std::byte*>(operands[0]) + at, sizeof(Element));
    for (std::size_t i = 1; i < operand_count; ++i) {
      Element element;
      std::memcpy(&element, static_cast<const std::byte*>(operands[i]) + at, sizeof(Element));
      result = Op::combine(result, element);
    }
    std::memcpy(static_cast<std::byte*>(to) + at, &result, sizeof(Element));
  }
}

// A ScaleKernel from `Op::combine(Element, Factor)`.
template <typename Element, typename Factor, typename Op>
void scale_elements(void* to, const void* from, const void* factor, std::size_t bytes) noexcept {
  Factor number;
  std::memcpy(&number, factor, sizeof(Factor));
  for (std::size_t at = 0; at < bytes; at += sizeof(Element)) {
    Element element;
    std::memcpy(&element, static_cast<const std::byte*>(from) + at, sizeof(Element));
    element = Op::combine(element, number);
    std::memcpy(static_cast<std::byte*>(to) + at, &element, sizeof(Element));
  }
}

}  // namespace parley::tensor
