#pragma once

#include <parley/reduce_op.h>

#include <chrono>
#include <cstddef>
#include <optional>

namespace parley {

// Options of the collectives of a ProcessGroup. A call without a timeout of its own lasts as long as the
// group's. With `async_op` a call returns at once, and the Work it returns is to be waited for; without, it
// returns when this rank's part is done, and so is the Work.

struct CollectiveOptions {
  bool async_op = false;
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
};

// What a floating-point result depends on, beside the elements.
enum class Determinism {
  // The same bits on all ranks, and in every run of the same build, host layout and settings.
  same_bits,
  // As if one rank had folded the elements in the order of the ranks; 16-bit types in 32 bits, with one
  // rounding. It does not depend on size, host layout or transport.
  rank_order,
};

struct ReduceOptions {
  ReduceOp op = ReduceOp::sum;
  bool async_op = false;
  Determinism determinism = Determinism::same_bits;
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
};

}  // namespace parley
