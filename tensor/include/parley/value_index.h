#pragma once

namespace parley {

// An element of ReduceOp::minloc and maxloc: a value, and where it is, such as its index or a rank. As MPI's
// MPI_FLOAT_INT and its kin. The types that a tensor can hold are those with a DType, such as f32_i32.
template <typename V, typename I>
struct ValueIndex {
  V value;
  I index;

  friend bool operator==(const ValueIndex&, const ValueIndex&) = default;
};

namespace detail {
template <typename T>
inline constexpr bool is_value_index = false;
template <typename V, typename I>
inline constexpr bool is_value_index<ValueIndex<V, I>> = true;
}  // namespace detail

}  // namespace parley
