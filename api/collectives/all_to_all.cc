#include <parley/error.h>
#include <parley/process_group.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "api/checks.h"
#include "api/collectives/arguments.h"
#include "transport/base/log.h"

namespace parley {

using base::concat;
using detail::CollectiveCall;
using detail::GroupState;
using schedule::Operation;

namespace {

// Elements of each rank's part of a tensor that is cut along its first dimension. Without sizes: equal parts.
std::vector<std::uint64_t> parts_of(const CollectiveCall& call, const GroupState& group, const Tensor& tensor,
                                    const char* tensor_name, const std::vector<std::int64_t>& sizes) {
  if (tensor.ndim() == 0)
    throw UsageError(concat(call.name, ": ", tensor_name, " has no dimension to be split along"));
  const std::int64_t rows = tensor.shape()[0];
  const auto ranks = static_cast<std::size_t>(group.size);
  if (sizes.empty() && rows % group.size != 0)
    throw UsageError(concat(call.name, ": the first dimension of ", tensor_name, ", ", rows,
                            ", is no multiple of ", group.size, ", the number of ranks"));
  if (!sizes.empty()) {
    if (sizes.size() != ranks)
      throw UsageError(concat(call.name, ": ", sizes.size(), " sizes are given for ", tensor_name,
                              ", the group has ", group.size, " ranks: it takes one for each"));
    std::int64_t left = rows;  // never below zero: a sum might begin anew
    const bool fit = std::all_of(sizes.begin(), sizes.end(), [&left](std::int64_t size) {
      const bool fits = size >= 0 && size <= left;
      if (fits) left -= size;
      return fits;
    });
    if (!fit || left != 0)
      throw UsageError(concat(call.name, ": the sizes for ", tensor_name, " do not sum up to ", rows,
                              ", its first dimension; none may be negative"));
  }
  const std::uint64_t row = rows == 0 ? 0 : tensor.numel() / static_cast<std::uint64_t>(rows);
  std::vector<std::uint64_t> counts(ranks, static_cast<std::uint64_t>(rows / group.size) * row);
  for (std::size_t i = 0; i < sizes.size(); ++i) counts[i] = static_cast<std::uint64_t>(sizes[i]) * row;
  return counts;
}

void check_rows(const CollectiveCall& call, const Tensor& out, const Tensor& in) {
  const Shape& outs = out.shape();
  const Shape& ins = in.shape();
  if (outs.size() == ins.size() && std::equal(outs.begin() + 1, outs.end(), ins.begin() + 1)) return;
  throw UsageError(concat(call.name, ": out has the shape ", outs.to_string(), ", in ", ins.to_string(),
                          ": all but the first dimension must agree"));
}

}  // namespace

[[gnu::hot]] Work ProcessGroup::all_to_all(TensorList out, TensorList in, const ListOptions& options) {
  GroupState& group = detail::require_member(state_, "all_to_all");
  CollectiveCall call = detail::begin_call(group, "all_to_all", Operation::all_to_all, options);
  if (!in.tensors().empty()) detail::set_elements(call, in.tensors().front());
  const bool is_in_even = detail::set_inputs(call, group, in);
  const bool is_out_even = detail::set_outputs(call, group, out);
  if (options.uneven) {
    detail::set_counts(call, detail::counts_of(in));
    detail::set_receive_counts(call, detail::counts_of(out));
  } else {
    if (!is_in_even) detail::refuse_uneven(call, in);
    if (!is_out_even) detail::refuse_uneven(call, out);
    detail::check_same_count(call, out.tensors().front(), in.tensors().front());
    detail::set_count(call, in.tensors().front().numel());
  }
  return detail::launch(state_, std::move(call));
}

[[gnu::hot]] Work ProcessGroup::all_to_all_single(const Tensor& out, const Tensor& in,
                                                  const SplitOptions& options) {
  constexpr auto name = "all_to_all_single";
  GroupState& group = detail::require_member(state_, name);
  CollectiveCall call = detail::begin_call(group, name, Operation::all_to_all, options);
  detail::check_same_dtype(call, out, in);
  std::vector<std::uint64_t> counts = parts_of(call, group, in, "in", options.input_split_sizes);
  std::vector<std::uint64_t> receive_counts = parts_of(call, group, out, "out", options.output_split_sizes);
  check_rows(call, out, in);
  detail::set_elements(call, in);
  detail::set_input(call, in);
  detail::set_output(call, out);
  if (options.input_split_sizes.empty() && options.output_split_sizes.empty()) {
    detail::check_same_count(call, out, in);
    detail::set_count(call, counts.front());
  } else {
    detail::set_counts(call, std::move(counts));
    detail::set_receive_counts(call, std::move(receive_counts));
  }
  return detail::launch(state_, std::move(call));
}

}  // namespace parley
