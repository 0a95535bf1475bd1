#pragma once

#include <parley/dtype.h>
#include <parley/reduce_op.h>

#include <cstddef>

#include "tensor/reduce/choice.h"

// Which of a device's kernels does what, by the same choice as the CPU's (choice.h). Names are static text.
namespace parley::tensor {

// A fold. Null names: there is none.
struct DeviceFold {
  const char* few = nullptr;   // takes FewOperands
  const char* many = nullptr;  // takes ManyOperands
  std::size_t number_bytes = 0;
};
// A scale, which takes ScaleArguments.
struct DeviceScale {
  const char* name = nullptr;
  std::size_t number_bytes = 0;
};

// The device's counterpart of Kernels::fold, which has the same cells.
[[nodiscard]] DeviceFold device_fold(Cell cell) noexcept;

// These REQUIRE: reason_against(kind, dtype) is empty. None for a user's function.
[[nodiscard]] DeviceFold device_fold(ReduceOp::Kind kind, DType dtype) noexcept;
[[nodiscard]] DeviceScale device_prepare(DType dtype) noexcept;  // premul_sum
[[nodiscard]] DeviceScale device_finish(DType dtype) noexcept;   // avg

}  // namespace parley::tensor
