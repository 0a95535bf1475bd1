#include <parley/value_index.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "tensor/reduce/element_kernels.h"

namespace parley::tensor {
namespace {

template <typename T>
bool is_nan(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

// The result does not depend on the order of the operands: where no value wins, the lower index does.
template <bool greatest>
struct Location {
  template <typename V, typename I>
  static ValueIndex<V, I> combine(ValueIndex<V, I> a, ValueIndex<V, I> b) noexcept {
    if (is_nan(a.value) != is_nan(b.value)) return is_nan(a.value) ? a : b;
    if (greatest ? a.value > b.value : a.value < b.value) return a;
    if (greatest ? b.value > a.value : b.value < a.value) return b;
    return b.index < a.index ? b : a;
  }
};

template <typename V, typename I>
FoldKernel location_kernel(ReduceOp::Kind kind) noexcept {
  return kind == ReduceOp::maxloc ? &fold_elements<ValueIndex<V, I>, Location<true>>
                                  : &fold_elements<ValueIndex<V, I>, Location<false>>;
}

}  // namespace

FoldKernel location_kernel(ReduceOp::Kind kind, DType dtype) noexcept {
  switch (dtype) {
    case DType::f32_i32: return location_kernel<float, std::int32_t>(kind);
    case DType::f64_i64: return location_kernel<double, std::int64_t>(kind);
    case DType::i32_i32: return location_kernel<std::int32_t, std::int32_t>(kind);
    default: return location_kernel<std::int64_t, std::int64_t>(kind);
  }
}

}  // namespace parley::tensor
