#pragma once

#include <parley/dtype.h>
#include <parley/reduce_op.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/element.h"
#include "tensor/reduce/cuda/device_kernels.h"
#include "transport/cuda/api.h"

namespace parley::tensor {

// A Reduction (reduction.h) whose elements lie in memory that a device reaches, its own or pinned: the same
// bits, whatever the count and the alignment. Calls enqueue and do not wait; the stream's device is entered.
//
// Pointers may be unaligned; `to` may be exactly one of the operands. `count` counts elements. Fast where all
// pointers have the same distance from a multiple of 16 bytes.
// The first launch on an Api that lacks the kernels makes them known to it.
// Errors: those of Api::launch; not_found in a build without CUDA. After one, nothing was enqueued.
// Thread-safety: const, may be used from several threads.
class DeviceReduction {
 public:
  // In one fold, the operands' addresses being parameters of the kernel: all that a kernel can have.
  static constexpr std::size_t most_operands = 500;

  // `api` outlives this. Throws UsageError as Reduction does, and for a user's function, which runs on the
  // CPU only.
  DeviceReduction(cuda::Api& api, const ReduceOp& op, DType dtype);

  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] const ReduceOp& op() const noexcept { return op_; }

  // to := ((operand 0 ∘ operand 1) ∘ operand 2) ∘ ..., in one pass. 16-bit floating-point types are rounded
  // once. Code::invalid_value for none or more than `most_operands`.
  [[nodiscard]] cuda::Code fold(void* to, std::span<const void* const> operands, std::size_t count,
                                cuda::Stream stream) const noexcept;

  // premul_sum: to := from times the factor.
  [[nodiscard]] bool prepares() const noexcept { return prepare_.name != nullptr; }
  [[nodiscard]] cuda::Code prepare(void* to, const void* from, std::size_t count,
                                   cuda::Stream stream) const noexcept;

  // avg: divides by the number of ranks, in place.
  [[nodiscard]] bool finishes() const noexcept { return finish_.name != nullptr; }
  [[nodiscard]] cuda::Code finish(void* elements, std::size_t count, std::int64_t ranks,
                                  cuda::Stream stream) const noexcept;

 private:
  [[nodiscard]] cuda::Code scale(const DeviceScale& kernel, void* to, const void* from, std::size_t count,
                                 const ElementBytes& factor, cuda::Stream stream) const noexcept;

  cuda::Api* api_;
  DeviceFold fold_;
  DeviceScale prepare_;
  DeviceScale finish_;
  DType dtype_;
  ElementBytes factor_ = {};
  ReduceOp op_;
};

}  // namespace parley::tensor
