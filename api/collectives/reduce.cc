#include <parley/process_group.h>

#include <utility>

#include "api/checks.h"
#include "api/collectives/arguments.h"

namespace parley {

using detail::CollectiveCall;
using schedule::Operation;

[[gnu::hot]] Work ProcessGroup::all_reduce(const Tensor& tensor, const ReduceOptions& options) {
  return all_reduce(tensor, tensor, options);
}

[[gnu::hot]] Work ProcessGroup::all_reduce(const Tensor& out, const Tensor& in,
                                           const ReduceOptions& options) {
  detail::GroupState& group = detail::require_member(state_, "all_reduce");
  CollectiveCall call = detail::begin_call(group, "all_reduce", Operation::all_reduce, options);
  detail::check_same_dtype(call, out, in);
  detail::check_same_count(call, out, in);
  detail::set_elements(call, in);
  detail::set_input(call, in);
  detail::set_output(call, out);
  detail::set_count(call, in.numel());
  detail::set_reduction(call, options, in.dtype());
  return detail::launch(state_, std::move(call));
}

[[gnu::hot]] Work ProcessGroup::reduce(const Tensor& tensor, int root, const ReduceOptions& options) {
  return reduce(tensor, tensor, root, options);
}

[[gnu::hot]] Work ProcessGroup::reduce(const Tensor& out, const Tensor& in, int root,
                                       const ReduceOptions& options) {
  detail::GroupState& group = detail::require_member(state_, "reduce");
  CollectiveCall call = detail::begin_call(group, "reduce", Operation::reduce, options);
  detail::set_root(call, group, root);
  detail::set_elements(call, in);
  detail::set_input(call, in);
  if (group.rank == root) {
    detail::check_same_dtype(call, out, in);
    detail::check_same_count(call, out, in);
    detail::set_output(call, out);
  }
  detail::set_count(call, in.numel());
  detail::set_reduction(call, options, in.dtype());
  return detail::launch(state_, std::move(call));
}

}  // namespace parley
