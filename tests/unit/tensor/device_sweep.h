#pragma once

#include <parley/dtype.h>
#include <parley/reduce_op.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tests/unit/tensor/reduce_reference.h"
#include "transport/cuda/api.h"

// Reductions of a device next to those of the CPU.
namespace parley::tests {

// Holds device 0 of an Api, which all calls use. Each call lays operands into the device's memory, reduces
// there and on the CPU, and expects all of that memory to be the same afterwards: the result, what lies
// around it, and the operands.
class DeviceSweep {
 public:
  explicit DeviceSweep(cuda::Api& api) : api_(api), scope_(api, 0) {}

  struct Fold {
    std::size_t count = 1;
    std::size_t operand_count = 2;
    // Bytes by which arrays lie off a multiple of 256: the result, and each second operand, by `offset`; the
    // other operands by `other_offset`.
    std::size_t offset = 0;
    std::size_t other_offset = 0;
    std::optional<std::size_t> in_place = {};  // the operand that is also the result
  };
  void expect_fold(ReduceOp::Kind kind, DType dtype, const Fold& fold);
  void expect_prepare(DType dtype, std::size_t count, std::size_t from_offset, std::size_t to_offset);
  void expect_finish(DType dtype, std::size_t count, std::size_t offset, std::int64_t ranks);

  // Every type, reduction, and many counts, alignments and numbers of operands; and arrays of more numbers
  // than a launch has threads.
  void expect_all();

 private:
  void expect_all_folds(DType dtype);
  void expect_all_scales(DType dtype);
  // Copies to the device, calls reduce(start of the memory there), copies back.
  template <typename Reduce>
  Bytes reduced(const Bytes& memory, const Reduce& reduce);

  cuda::Api& api_;
  cuda::DeviceScope scope_;
};

}  // namespace parley::tests
