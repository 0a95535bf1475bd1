#include <parley/process_group.h>

#include <cstddef>
#include <utility>

#include "api/checks.h"
#include "api/collectives/arguments.h"

namespace parley {

using detail::CollectiveCall;
using schedule::Operation;

[[gnu::hot]] Work ProcessGroup::all_gather(TensorList out, const Tensor& in,
                                           const CollectiveOptions& options) {
  detail::GroupState& group = detail::require_member(state_, "all_gather");
  CollectiveCall call = detail::begin_call(group, "all_gather", Operation::all_gather, options);
  detail::set_elements(call, in);
  detail::set_input(call, in);
  const bool is_even = detail::set_outputs(call, group, out);
  detail::check_same_count(call, out.tensors()[static_cast<std::size_t>(group.rank)], in);
  if (is_even)
    detail::set_count(call, in.numel());
  else
    detail::set_counts(call, detail::counts_of(out), call.call.output_count);
  return detail::launch(state_, std::move(call));
}

[[gnu::hot]] Work ProcessGroup::all_gather_into_tensor(const Tensor& out, const Tensor& in,
                                                       const CollectiveOptions& options) {
  constexpr auto name = "all_gather_into_tensor";
  detail::GroupState& group = detail::require_member(state_, name);
  CollectiveCall call = detail::begin_call(group, name, Operation::all_gather, options);
  detail::check_same_dtype(call, out, in);
  detail::check_whole(call, group, out, "out", in, "in");
  detail::set_elements(call, in);
  detail::set_input(call, in);
  detail::set_output(call, out);
  detail::set_count(call, in.numel());
  return detail::launch(state_, std::move(call));
}

}  // namespace parley
