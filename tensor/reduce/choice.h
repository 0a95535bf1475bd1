#pragma once

#include <parley/dtype.h>
#include <parley/reduce_op.h>

#include <cstdint>

#include "tensor/element.h"
#include "tensor/reduce/kernels.h"

// What a ReduceOp of an element type comes to, the same wherever its kernels run: Reduction finds those of
// the CPU with it, DeviceReduction those of a device.
namespace parley::tensor {

// A kernel of the table in kernels.h.
struct Cell {
  Lane lane;
  Combine combine;
};

enum class FoldMethod : std::uint8_t {
  cell,             // that of cell_of()
  complex_product,  // of complex64 or complex128
  location,         // minloc or maxloc, of a pair type
  function,         // the user's
};

// All three REQUIRE: reason_against(kind, dtype) is empty.
[[nodiscard]] FoldMethod fold_method(ReduceOp::Kind kind, DType dtype) noexcept;
// How the numbers are folded; its lane is the one in which they are multiplied or divided, too. A complex
// number is two of its lane. REQUIRES: FoldMethod::cell
[[nodiscard]] Cell cell_of(ReduceOp::Kind kind, DType dtype) noexcept;
// Whether avg divides in the lane of cell_of(); else as integers do.
[[nodiscard]] bool divides_in_lane(DType dtype) noexcept;

// The factor of premul_sum as its kernel wants it: of the lane's numbers (float for f16 and bf16), or
// complex. Throws UsageError when it does not fit the type.
[[nodiscard]] ElementBytes factor_of(const ReduceOp& op, DType dtype);
// By what avg divides: a number of the lane, or an int64.
[[nodiscard]] ElementBytes divisor_of(DType dtype, std::int64_t ranks) noexcept;

// `op` itself. Throws UsageError when it is not for that type (see reason_against).
[[nodiscard]] const ReduceOp& checked(const ReduceOp& op, DType dtype);

}  // namespace parley::tensor
