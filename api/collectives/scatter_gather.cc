#include <parley/error.h>
#include <parley/process_group.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/checks.h"
#include "api/collectives/arguments.h"

namespace parley {

using detail::CollectiveCall;
using detail::GroupState;
using schedule::Operation;

namespace {

[[gnu::hot]] void set_list(CollectiveCall& call, const GroupState& group, TensorList list, const Tensor& own,
                           const ListOptions& options) {
  if (call.call.signature.root != group.rank)
    throw UsageError(std::string(call.name) + ": a list was given, and this rank is not the root");
  const bool gathers = call.call.signature.operation == Operation::gather;
  const bool is_even =
      gathers ? detail::set_outputs(call, group, list) : detail::set_inputs(call, group, list);
  if (!options.uneven && !is_even) [[unlikely]]
    detail::refuse_uneven(call, list);
  const Tensor& block = list.tensors()[static_cast<std::size_t>(group.rank)];
  gathers ? detail::check_same_count(call, block, own) : detail::check_same_count(call, own, block);
}

void set_uneven_counts(CollectiveCall& call, const GroupState& group, TensorList list, const Tensor& own) {
  std::vector<std::uint64_t> counts = detail::counts_of(list);
  if (counts.empty()) {
    counts.resize(static_cast<std::size_t>(group.size));
    counts[static_cast<std::size_t>(group.rank)] = own.numel();
  }
  detail::set_counts(call, std::move(counts));
}

// The list is the root's; every rank has a tensor of its own, and knows the size of that one only.
[[gnu::hot]] void set_blocks(CollectiveCall& call, const GroupState& group, TensorList list,
                             const Tensor& own, const ListOptions& options) {
  if (call.call.signature.root == group.rank || !list.tensors().empty())
    set_list(call, group, list, own, options);
  if (options.uneven) [[unlikely]]
    set_uneven_counts(call, group, list, own);
  else
    detail::set_count(call, own.numel());
}

}  // namespace

[[gnu::hot]] Work ProcessGroup::scatter(const Tensor& out, TensorList in, int root,
                                        const ListOptions& options) {
  GroupState& group = detail::require_member(state_, "scatter");
  CollectiveCall call = detail::begin_call(group, "scatter", Operation::scatter, options);
  detail::set_root(call, group, root);
  detail::set_elements(call, out);
  detail::set_output(call, out);
  set_blocks(call, group, in, out, options);
  return detail::launch(state_, std::move(call));
}

[[gnu::hot]] Work ProcessGroup::gather(TensorList out, const Tensor& in, int root,
                                       const ListOptions& options) {
  GroupState& group = detail::require_member(state_, "gather");
  CollectiveCall call = detail::begin_call(group, "gather", Operation::gather, options);
  detail::set_root(call, group, root);
  detail::set_elements(call, in);
  detail::set_input(call, in);
  set_blocks(call, group, out, in, options);
  return detail::launch(state_, std::move(call));
}

}  // namespace parley
