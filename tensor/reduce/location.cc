#include <parley/value_index.h>

#include <cstdint>

#include "tensor/reduce/element_kernels.h"
#include "tensor/reduce/element_operations.h"

namespace parley::tensor {
namespace {

template <typename V, typename I>
FoldKernel location_kernel_of(ReduceOp::Kind kind) noexcept {
  return kind == ReduceOp::maxloc ? &fold_elements<ValueIndex<V, I>, Location<true>>
                                  : &fold_elements<ValueIndex<V, I>, Location<false>>;
}

}  // namespace

FoldKernel location_kernel(ReduceOp::Kind kind, DType dtype) noexcept {
  switch (dtype) {
    case DType::f32_i32: return location_kernel_of<float, std::int32_t>(kind);
    case DType::f64_i64: return location_kernel_of<double, std::int64_t>(kind);
    case DType::i32_i32: return location_kernel_of<std::int32_t, std::int32_t>(kind);
    default: return location_kernel_of<std::int64_t, std::int64_t>(kind);
  }
}

}  // namespace parley::tensor
