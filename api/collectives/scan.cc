#include <parley/error.h>
#include <parley/process_group.h>

#include <memory>
#include <string>
#include <utility>

#include "api/checks.h"
#include "api/collectives/arguments.h"

namespace parley {

namespace {

Work fold_prefix(const std::shared_ptr<detail::GroupState>& state, const char* name,
                 schedule::Operation operation, const Tensor& tensor, const ReduceOptions& options) {
  detail::GroupState& group = detail::require_member(state, name);
  // The divisor would be another one on each rank.
  if (options.op.kind() == ReduceOp::avg)
    throw UsageError(std::string(name) + ": avg is for all ranks alike; take sum, and divide");
  auto call = detail::begin_call(group, name, operation, options);
  detail::set_elements(call, tensor);
  detail::set_input(call, tensor);
  detail::set_output(call, tensor);
  detail::set_count(call, tensor.numel());
  detail::set_reduction(call, options, tensor.dtype());
  return detail::launch(state, std::move(call));
}

}  // namespace

Work ProcessGroup::scan(const Tensor& tensor, const ReduceOptions& options) {
  return fold_prefix(state_, "scan", schedule::Operation::scan, tensor, options);
}

Work ProcessGroup::exscan(const Tensor& tensor, const ReduceOptions& options) {
  return fold_prefix(state_, "exscan", schedule::Operation::exscan, tensor, options);
}

}  // namespace parley
