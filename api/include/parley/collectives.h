#pragma once

#include <parley/dtype.h>
#include <parley/export.h>
#include <parley/reduce_op.h>
#include <parley/tensor.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

namespace parley {

// Options of the collectives of a ProcessGroup. A call without a timeout of its own lasts as long as the
// group's. With `async_op` a call returns at once, and the Work it returns is to be waited for; without, it
// returns when this rank's part is done, and so is the Work.
//
// Of one collective all ranks' tensors are on devices, or none are. The first one of a group on devices waits
// for all ranks, also with `async_op`: they agree how they work together (PARLEY_DEVICE_PATH, describe()).

struct CollectiveOptions {
  bool async_op = false;
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
};

struct MonitoredBarrierOptions {
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
};

// What a floating-point result depends on, beside the elements. The same on all ranks of a call.
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

// One tensor for each rank, in the order of the ranks: a vector, a span or {a, b, c}. Refers to them for the
// call only. They may lie anywhere; where each begins at the end of the one before it, nothing is copied.
class TensorList {
 public:
  TensorList() noexcept = default;
  TensorList(std::span<const Tensor> tensors) noexcept : tensors_(tensors) {}     // NOLINT
  TensorList(const std::vector<Tensor>& tensors) noexcept : tensors_(tensors) {}  // NOLINT
  TensorList(const std::initializer_list<Tensor>& tensors) noexcept               // NOLINT
      : tensors_(tensors.begin(), tensors.size()) {}

  [[nodiscard]] std::span<const Tensor> tensors() const noexcept { return tensors_; }

 private:
  std::span<const Tensor> tensors_;
};

// Of scatter, gather and all_to_all.
struct ListOptions {
  // The tensors of a list differ in size, here or on another rank: the same on all ranks, who cannot see it
  // in each other's lists.
  bool uneven = false;
  bool async_op = false;
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
};

// Of all_to_all_single: how many rows (indices of the first dimension) come from and go to each rank. Empty:
// equal parts. Given on one rank, they are given on all.
struct SplitOptions {
  std::vector<std::int64_t> output_split_sizes = {};
  std::vector<std::int64_t> input_split_sizes = {};
  bool async_op = false;
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
};

// Of describe_plan: what the call would be, beside its size.
struct PlanOptions {
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  Determinism determinism = Determinism::same_bits;
  // The tensors are. Before the group's first call on devices it is not known whether its ranks share one, or
  // have NCCL.
  bool on_devices = false;
};

}  // namespace parley
