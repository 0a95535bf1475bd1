#pragma once

#include <parley/dtype.h>
#include <parley/reduce_op.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/element.h"
#include "tensor/reduce/kernels.h"

namespace parley::tensor {

// A ReduceOp resolved for one element type: what a collective calls for each piece. A rank's own elements are
// prepared, then folded with those of others, and the result, once all ranks are in it, is finished:
//
//   Reduction reduction(op, dtype);
//   if (reduction.prepares()) reduction.prepare(staging, mine, count);
//   reduction.fold(to, {{staging, theirs}}, count);
//   if (reduction.finishes()) reduction.finish(to, count, ranks);
//
// Pointers may be unaligned; `to` may be exactly one of the operands. `count` counts elements.
// Thread-safety: const, may be used from several threads if the user's function may.
class Reduction {
 public:
  // Throws UsageError when they do not go together (see reason_against), or the factor does not fit the type.
  Reduction(const ReduceOp& op, DType dtype, const Kernels& kernels = best_kernels());

  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] const ReduceOp& op() const noexcept { return op_; }

  // to := ((operand 0 ∘ operand 1) ∘ operand 2) ∘ ..., in one pass. 16-bit floating-point types are rounded
  // once. REQUIRES: at least one operand
  void fold(void* to, std::span<const void* const> operands, std::size_t count) const noexcept {
    if (fold_ != nullptr) [[likely]]
      return fold_(to, operands.data(), operands.size(), count * size_of(dtype_));
    fold_custom(to, operands, count);
  }

  // premul_sum: to := from times the factor.
  [[nodiscard]] bool prepares() const noexcept { return prepare_ != nullptr; }
  void prepare(void* to, const void* from, std::size_t count) const noexcept;

  // avg: divides by the number of ranks, in place.
  [[nodiscard]] bool finishes() const noexcept { return finish_ != nullptr; }
  void finish(void* elements, std::size_t count, std::int64_t ranks) const noexcept;

 private:
  void fold_custom(void* to, std::span<const void* const> operands, std::size_t count) const noexcept;

  FoldKernel fold_ = nullptr;  // null: the user's function
  ScaleKernel prepare_ = nullptr;
  ScaleKernel finish_ = nullptr;
  DType dtype_;
  ElementBytes factor_ = {};
  ReduceOp op_;
};

}  // namespace parley::tensor
