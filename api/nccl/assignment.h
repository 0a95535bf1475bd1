#pragma once

#include <parley/dtype.h>
#include <parley/reduce_op.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "api/collective/run.h"
#include "api/nccl/library.h"
#include "tensor/element.h"

namespace parley::nccl {

// One collective as NCCL shall do it. What decides which of NCCL's functions are called is the same on all
// ranks; buffers are one piece of memory each.
struct Assignment {
  schedule::Operation operation = schedule::Operation::broadcast;
  int rank = 0;
  int ranks = 1;
  int root = 0;
  Type type = Type::u8;           // of `element_bytes`, or u8 where elements are only moved, and then
  std::size_t units = 1;          // so many of it make an element
  std::size_t element_bytes = 1;  // of the call's
  Fold fold = Fold::sum;
  std::optional<tensor::ElementBytes> factor = std::nullopt;  // premul_sum: a scaled sum is made for it
  std::uint64_t count = 0;                                    // as in schedule::Shape, as are these:
  std::vector<std::uint64_t> counts = {};
  std::vector<std::uint64_t> receive_counts = {};
};

// Nothing: NCCL has none that gives what ours does, and ours does it. The same on all ranks. `op`: where
// something is folded. Not NCCL's are scans, integer averages, floating-point min and max (NCCL's lose a
// NaN), results in rank order, and types and reductions that NCCL does not know. Throws std::bad_alloc.
[[nodiscard]] std::optional<Assignment> assignment_for(const collective::Call& call,
                                                       const std::optional<ReduceOp>& op, int rank,
                                                       int ranks);

// Whether it needs a copy of its input, for its output is the same memory, and not as NCCL works in place: an
// exchange, or, with a factor, whatever overlap there is (callers may have any, for ours copies its input).
[[nodiscard]] bool needs_own_input(const Assignment& assignment, std::span<const std::byte> input,
                                   std::span<const std::byte> output) noexcept;

// Tells it to the stream. `fold`: that of the assignment, or the scaled sum that was made for its factor.
// What was told before a failure is. REQUIRES: the communicator is ready, its device entered.
Result enqueue(Library& library, Communicator communicator, const Assignment& assignment, Fold fold,
               const std::byte* input, std::byte* output, cuda::Stream stream) noexcept;

}  // namespace parley::nccl
