#include <parley/process_group.h>

#include <cstddef>
#include <utility>

#include "api/checks.h"
#include "api/collectives/arguments.h"

namespace parley {

using detail::CollectiveCall;
using schedule::Operation;

[[gnu::hot]] Work ProcessGroup::reduce_scatter(const Tensor& out, TensorList in,
                                               const ReduceOptions& options) {
  detail::GroupState& group = detail::require_member(state_, "reduce_scatter");
  CollectiveCall call = detail::begin_call(group, "reduce_scatter", Operation::reduce_scatter, options);
  detail::set_elements(call, out);
  const bool is_even = detail::set_inputs(call, group, in);
  detail::set_output(call, out);
  detail::check_same_count(call, out, in.tensors()[static_cast<std::size_t>(group.rank)]);
  if (is_even)
    detail::set_count(call, out.numel());
  else
    detail::set_counts(call, detail::counts_of(in), call.call.input_count);
  detail::set_reduction(call, options, out.dtype());
  return detail::launch(state_, std::move(call));
}

[[gnu::hot]] Work ProcessGroup::reduce_scatter_tensor(const Tensor& out, const Tensor& in,
                                                      const ReduceOptions& options) {
  constexpr auto name = "reduce_scatter_tensor";
  detail::GroupState& group = detail::require_member(state_, name);
  CollectiveCall call = detail::begin_call(group, name, Operation::reduce_scatter, options);
  detail::check_same_dtype(call, out, in);
  detail::check_whole(call, group, in, "in", out, "out");
  detail::set_elements(call, in);
  detail::set_input(call, in);
  detail::set_output(call, out);
  detail::set_count(call, out.numel());
  detail::set_reduction(call, options, in.dtype());
  return detail::launch(state_, std::move(call));
}

}  // namespace parley
