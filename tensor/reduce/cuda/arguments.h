#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/reduce/cuda/walk.h"

// The parameter of each kernel, a struct by value.
namespace parley::tensor::device {

// to := ((operand 0 ∘ operand 1) ∘ operand 2) ∘ ..., in one pass. `to` may be exactly one of the operands.
template <std::size_t most>
struct FoldArguments {
  static constexpr std::size_t most_operands = most;
  void* to;
  Walk walk;
  std::uint64_t operand_count;  // 1 to `most`
  const void* operands[most];
};
// Nearly all folds; and the others, with as many as a kernel's 4 KiB of parameters hold.
using FewOperands = FoldArguments<8>;
using ManyOperands = FoldArguments<500>;
static_assert(sizeof(ManyOperands) <= 4096);

// to := from ∘ factor. `to` may be `from`.
struct ScaleArguments {
  void* to;
  const void* from;
  Walk walk;
  alignas(16) std::byte factor[16];  // a number of the kernel's format, or an int64
};

}  // namespace parley::tensor::device
