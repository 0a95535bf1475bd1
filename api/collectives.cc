#include <parley/process_group.h>

#include <memory>

#include "api/checks.h"
#include "api/collective_call.h"
#include "api/posting.h"

namespace parley {

using detail::CollectiveCall;
using detail::GroupState;
using schedule::Operation;

namespace {

template <typename Options>
void set_options(CollectiveCall& call, const GroupState& group, const Options& options) {
  call.async_op = options.async_op;
  call.call.timeout = options.timeout.value_or(group.world->timeout);
  call.call.gives_up = detail::gives_up(options.timeout);
}

void set_elements(CollectiveCall& call, const Tensor& tensor) {
  call.call.signature.dtype = tensor.dtype();
  call.call.question.element_bytes = static_cast<std::uint32_t>(size_of(tensor.dtype()));
  call.owner = tensor.owner();
}

void set_reduction(CollectiveCall& call, const ReduceOptions& options, DType dtype) {
  auto reduction = std::make_shared<const tensor::Reduction>(options.op, dtype);
  call.call.signature.reduction = options.op.kind();
  call.call.question.commutative = options.op.is_commutative();
  call.call.question.rank_order = options.determinism == Determinism::rank_order;
  if (reduction->prepares()) call.call.question.in_place = false;
  call.call.reduction = std::move(reduction);
}

}  // namespace

Work ProcessGroup::broadcast(const Tensor& tensor, int root, const CollectiveOptions& options) {
  GroupState& group = detail::require_member(state_, "broadcast");
  detail::check_rank(group, root, "broadcast");
  const bool is_root = group.rank == root;
  detail::check_tensor(tensor, "broadcast", !is_root);
  CollectiveCall call{"broadcast", {}};
  set_elements(call, tensor);
  set_options(call, group, options);
  const auto count = static_cast<std::uint64_t>(tensor.numel());
  call.call.signature.operation = call.call.question.operation = Operation::broadcast;
  call.call.signature.count = call.call.question.count = count;
  call.call.signature.root = root;
  call.call.question.root = static_cast<std::uint32_t>(root);
  call.call.question.in_place = true;
  call.call.input = tensor.data();
  call.call.output = is_root ? const_cast<std::byte*>(tensor.data()) : tensor.mutable_data();
  call.call.input_count = is_root ? count : 0;
  call.call.output_count = is_root ? 0 : count;
  return detail::run_collective(state_, std::move(call));
}

Work ProcessGroup::all_reduce(const Tensor& tensor, const ReduceOptions& options) {
  GroupState& group = detail::require_member(state_, "all_reduce");
  detail::check_tensor(tensor, "all_reduce", true);
  CollectiveCall call{"all_reduce", {}};
  set_elements(call, tensor);
  set_options(call, group, options);
  const auto count = static_cast<std::uint64_t>(tensor.numel());
  call.call.signature.operation = call.call.question.operation = Operation::all_reduce;
  call.call.signature.count = call.call.question.count = count;
  call.call.question.in_place = true;
  set_reduction(call, options, tensor.dtype());
  call.call.input = tensor.data();
  call.call.output = tensor.mutable_data();
  call.call.input_count = call.call.output_count = count;
  return detail::run_collective(state_, std::move(call));
}

}  // namespace parley
