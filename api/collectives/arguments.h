#pragma once

#include <parley/collectives.h>
#include <parley/tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "api/checks.h"
#include "api/collective_call.h"
#include "api/group_state.h"

namespace parley::detail {

// From a user's arguments to a CollectiveCall: begin_call(), then the buffers, the counts, the root and the
// reduction, and launch(). All of them throw UsageError, which names the operation.

template <typename Options>
CollectiveCall begin_call(const GroupState& group, const char* name, schedule::Operation operation,
                          const Options& options) {
  CollectiveCall call(name);
  call.async_op = options.async_op;
  call.call.signature.operation = call.call.question.operation = operation;
  call.call.timeout = options.timeout.value_or(group.world->timeout);
  call.call.gives_up = options.timeout.value_or(no_timeout) != no_timeout;
  return call;
}

// What an asynchronous call needs as long as it is under way; a blocking one has its caller for that.
void keep(CollectiveCall& call, std::shared_ptr<const void> owner);

// The tensor that this rank gives or gets, of which the call has its element type.
inline void set_elements(CollectiveCall& call, const Tensor& tensor) {
  call.call.signature.dtype = tensor.dtype();
  call.call.question.element_bytes = static_cast<std::uint32_t>(size_of(tensor.dtype()));
}
// All tensors of a call are on one device.
[[noreturn]] void refuse_device(const CollectiveCall& call, const Tensor& tensor);
inline void note_device(CollectiveCall& call, const Tensor& tensor) {
  if (!std::exchange(call.has_tensor, true)) call.device = tensor.device();
  if (call.device != tensor.device()) [[unlikely]]
    refuse_device(call, tensor);
}
[[gnu::hot]] inline void set_input(CollectiveCall& call, const Tensor& tensor) {
  check_tensor(tensor, call.name, false);
  note_device(call, tensor);
  call.call.input = tensor.data();
  call.call.input_count = tensor.numel();
  if (call.async_op) keep(call, tensor.owner());
}
[[gnu::hot]] inline void set_output(CollectiveCall& call, const Tensor& tensor) {
  check_tensor(tensor, call.name, true);
  note_device(call, tensor);
  call.call.output = tensor.mutable_data();
  call.call.output_count = tensor.numel();
  if (call.async_op) keep(call, tensor.owner());
}
// One for each rank, which may lie anywhere. Return whether all have as many elements.
bool set_inputs(CollectiveCall& call, const GroupState& group, TensorList list);
bool set_outputs(CollectiveCall& call, const GroupState& group, TensorList list);

[[noreturn]] void refuse_root(const CollectiveCall& call, const GroupState& group, int root);
inline void set_root(CollectiveCall& call, const GroupState& group, int root) {
  if (root < 0 || root >= group.size) [[unlikely]]
    refuse_root(call, group, root);
  call.call.signature.root = root;
  call.call.question.root = static_cast<std::uint32_t>(root);
}
// As in schedule::Shape, the same on all ranks.
inline void set_count(CollectiveCall& call, std::uint64_t count) {
  call.call.signature.count = call.call.question.count = count;
}
// Uneven ones: what goes to each rank or comes from it. What is the same on all ranks is compared (`total`).
void set_counts(CollectiveCall& call, std::vector<std::uint64_t> counts,
                std::optional<std::uint64_t> total = std::nullopt);
void set_receive_counts(CollectiveCall& call, std::vector<std::uint64_t> counts);

// After the tensors.
void set_reduction(CollectiveCall& call, const ReduceOptions& options, DType dtype);

// Two buffers of one call that have to agree.
[[noreturn]] void refuse_dtypes(const CollectiveCall& call, const Tensor& out, const Tensor& in);
inline void check_same_dtype(const CollectiveCall& call, const Tensor& out, const Tensor& in) {
  if (out.dtype() != in.dtype()) [[unlikely]]
    refuse_dtypes(call, out, in);
}
[[noreturn]] void refuse_counts(const CollectiveCall& call, const Tensor& out, const Tensor& in);
inline void check_same_count(const CollectiveCall& call, const Tensor& out, const Tensor& in) {
  if (out.numel() != in.numel()) [[unlikely]]
    refuse_counts(call, out, in);
}
// `whole` holds one `block` of each rank: one after another in its first dimension, or in a dimension before.
// `whole_name`: "out", for the error.
void check_whole(const CollectiveCall& call, const GroupState& group, const Tensor& whole,
                 const char* whole_name, const Tensor& block, const char* block_name);

std::vector<std::uint64_t> counts_of(TensorList list);
// A list of tensors of different sizes, where that has to be said.
[[noreturn]] void refuse_uneven(const CollectiveCall& call, TensorList list);

// Whether its buffers have bytes in common, and nobody has said yet that it is in place. Of buffers that are
// not one piece of memory the run works on a copy.
inline bool overlaps(const collective::Call& call) noexcept {
  if (call.question.in_place || !call.inputs.empty() || !call.outputs.empty()) return false;
  const auto input = reinterpret_cast<std::uintptr_t>(call.input);
  const auto output = reinterpret_cast<std::uintptr_t>(call.output);
  const std::uint64_t input_bytes = call.input_count * call.question.element_bytes;
  const std::uint64_t output_bytes = call.output_count * call.question.element_bytes;
  return input_bytes != 0 && output_bytes != 0 && input < output + output_bytes &&
         output < input + input_bytes;
}
// Whether it is in place then. REQUIRES: overlaps(call.call).
bool is_in_place(const CollectiveCall& call, const GroupState& group);
// Where one on a device goes.
void settle_path(const std::shared_ptr<GroupState>& group, CollectiveCall& call);

// Runs the call. What moves with it stays where it is: the spans of its counts are good.
inline Work launch(const std::shared_ptr<GroupState>& group, CollectiveCall&& call) {
  if (overlaps(call.call)) call.call.question.in_place = is_in_place(call, *group);
  if (!call.device.is_cpu()) [[unlikely]]
    settle_path(group, call);
  return run_collective(group, std::move(call));
}

}  // namespace parley::detail
