#include "api/collectives/arguments.h"

#include <parley/error.h>
#include <parley/stream.h>

#include <algorithm>
#include <utility>

#include "api/checks.h"
#include "api/collectives/reductions.h"
#include "api/device_path.h"
#include "api/schedule/shape.h"
#include "transport/base/log.h"
#include "transport/cuda/runtime.h"

namespace parley::detail {

using base::concat;

void keep(CollectiveCall& call, std::shared_ptr<const void> owner) {
  using Both = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
  if (!call.async_op || owner == nullptr || owner == call.owner) return;
  call.owner = call.owner == nullptr ? std::move(owner)
                                     : std::make_shared<const Both>(std::move(call.owner), std::move(owner));
}

namespace {

void keep_all(CollectiveCall& call, TensorList list) {
  std::vector<std::shared_ptr<const void>> owners;
  for (const Tensor& tensor : list.tensors())
    if (tensor.is_owning()) owners.push_back(tensor.owner());
  if (!owners.empty())
    keep(call, std::make_shared<const std::vector<std::shared_ptr<const void>>>(std::move(owners)));
}

struct ListFacts {
  std::uint64_t count = 0;  // elements of all
  bool is_in_one_piece = true;
  bool is_even = true;
};

// What one walk could not vouch for, tensor by tensor.
[[gnu::noinline]] void check_list_further(const CollectiveCall& call, TensorList list, bool writable) {
  const auto tensors = list.tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (!is_good(tensor, writable))
      check_further(tensor, concat(call.name, ": ", i, " of the list").c_str(), writable);
    if (tensor.dtype() != call.call.signature.dtype)
      throw UsageError(concat(call.name, ": tensor ", i, " of the list is of ", name(tensor.dtype()),
                              ", another one of the call of ", name(call.call.signature.dtype)));
    if (tensor.device() != call.device) refuse_device(call, tensor);
  }
}

[[noreturn]] void refuse_list(const CollectiveCall& call, const GroupState& group, TensorList list) {
  throw UsageError(concat(call.name, ": the list has ", list.tensors().size(), " tensors, the group ",
                          group.size, " ranks: it takes one for each"));
}

// All that is asked of a list, in one walk.
[[gnu::always_inline]] inline ListFacts facts_of(CollectiveCall& call, const GroupState& group,
                                                 TensorList list, bool writable) {
  const auto tensors = list.tensors();
  if (tensors.size() != static_cast<std::size_t>(group.size)) [[unlikely]]
    refuse_list(call, group, list);
  if (!std::exchange(call.has_tensor, true)) call.device = tensors.front().device();
  const DType dtype = call.call.signature.dtype;
  const std::uint64_t element_bytes = call.call.question.element_bytes;
  const std::size_t first_count = tensors.front().numel();
  auto end = reinterpret_cast<std::uintptr_t>(tensors.front().data());
  ListFacts facts;
  bool is_plain = call.device.is_cpu();  // and all that are good are on the CPU
  for (const Tensor& tensor : tensors) {
    const std::uint64_t count = tensor.numel();
    is_plain &= is_good(tensor, writable) && tensor.dtype() == dtype;
    facts.count += count;
    facts.is_even &= count == first_count;
    const auto begin = reinterpret_cast<std::uintptr_t>(tensor.data());  // of whatever tensor it is
    facts.is_in_one_piece &= begin == end;
    end = begin + count * element_bytes;
  }
  if (!is_plain) [[unlikely]]
    check_list_further(call, list, writable);
  return facts;
}

schedule::Shape shape_of(const GroupState& group, const collective::Question& question) {
  schedule::Shape shape;
  shape.rank = static_cast<std::uint32_t>(group.rank);
  shape.size = static_cast<std::uint32_t>(group.size);
  shape.root = question.root;
  shape.count = question.count;
  shape.counts = question.counts;
  return shape;
}

collective::DevicePlace& place_of(CollectiveCall& call) {
  if (call.place == nullptr) call.place = std::make_shared<collective::DevicePlace>();
  return *call.place;
}

void set_device_reduction(CollectiveCall& call, const ReduceOp& op, DType dtype) {
  try {
    place_of(call).reduction.emplace(*cuda::runtime(), op, dtype);
    place_of(call).op = op;
  } catch (const UsageError& error) {
    throw UsageError(concat(call.name, ": ", error.what()), error.details());
  }
}

// In the order of the caller's stream.
void set_place(CollectiveCall& call, const GroupState& group) {
  collective::DevicePlace& place = place_of(call);
  place.port = &group.world->devices;
  place.device = call.device.index;
  place.stream = static_cast<cuda::Stream>(current_stream());
  call.call.device = call.place;
}

}  // namespace

[[gnu::hot]] bool set_inputs(CollectiveCall& call, const GroupState& group, TensorList list) {
  const ListFacts facts = facts_of(call, group, list, false);
  call.call.input_count = facts.count;
  if (facts.is_in_one_piece)
    call.call.input = list.tensors().front().data();
  else
    call.call.inputs = list.tensors();
  if (call.async_op) keep_all(call, list);
  return facts.is_even;
}

[[gnu::hot]] bool set_outputs(CollectiveCall& call, const GroupState& group, TensorList list) {
  const ListFacts facts = facts_of(call, group, list, true);
  call.call.output_count = facts.count;
  if (facts.is_in_one_piece)
    call.call.output = list.tensors().front().mutable_data();
  else
    call.call.outputs = list.tensors();
  if (call.async_op) keep_all(call, list);
  return facts.is_even;
}

void refuse_root(const CollectiveCall& call, const GroupState& group, int root) {
  refuse_rank(group, root, concat(call.name, ": root").c_str());
}

void set_counts(CollectiveCall& call, std::vector<std::uint64_t> counts, std::optional<std::uint64_t> total) {
  call.counts = std::move(counts);
  call.call.question.counts = call.counts;
  call.call.signature.count = total;
  if (!total) return;
  for (const std::uint64_t count : call.counts)  // FNV-1a
    call.call.signature.counts_hash = (call.call.signature.counts_hash ^ (count + 1)) * 0x100000001b3ULL;
  call.call.signature.counts_hash ^= call.call.signature.counts_hash >> 32;
}

void set_receive_counts(CollectiveCall& call, std::vector<std::uint64_t> counts) {
  call.receive_counts = std::move(counts);
  call.call.question.receive_counts = call.receive_counts;
}

[[gnu::hot]] void set_reduction(CollectiveCall& call, const ReduceOptions& options, DType dtype) {
  call.call.signature.reduction = options.op.kind();
  const bool commutative = options.op.is_commutative();
  const bool rank_order = options.determinism == Determinism::rank_order;
  call.call.signature.commutative = call.call.question.commutative = commutative;
  call.call.signature.rank_order = call.call.question.rank_order = rank_order;
  if (const tensor::Reduction* const plain = plain_reduction(options.op, dtype)) [[likely]]
    call.call.reduction = {std::shared_ptr<const void>(), plain};
  else
    call.call.reduction = make_reduction(options.op, dtype, call.name);
  if (!call.device.is_cpu()) [[unlikely]]
    set_device_reduction(call, options.op, dtype);
}

void refuse_device(const CollectiveCall& call, const Tensor& tensor) {
  throw UsageError(concat(call.name, ": one tensor is on ", parley::to_string(call.device), ", another on ",
                          parley::to_string(tensor.device()), ": all of a call must be on one device"));
}

void refuse_dtypes(const CollectiveCall& call, const Tensor& out, const Tensor& in) {
  throw UsageError(concat(call.name, ": out is of ", name(out.dtype()), ", in of ", name(in.dtype()),
                          ": they must agree"));
}

void refuse_counts(const CollectiveCall& call, const Tensor& out, const Tensor& in) {
  throw UsageError(
      concat(call.name, ": out has ", out.numel(), " elements, in ", in.numel(), ": they must be as many"));
}

void check_whole(const CollectiveCall& call, const GroupState& group, const Tensor& whole,
                 const char* whole_name, const Tensor& block, const char* block_name) {
  const Shape& all = whole.shape();
  const Shape& one = block.shape();
  const auto ends_with = [&](std::size_t from_all, std::size_t from_one) {
    return std::equal(all.begin() + from_all, all.end(), one.begin() + from_one, one.end());
  };
  const bool is_stacked = all.size() == one.size() + 1 && all[0] == group.size && ends_with(1, 0);
  const bool is_concatenated =
      all.size() == one.size() && all.size() > 0 && all[0] == group.size * one[0] && ends_with(1, 1);
  if (is_stacked || is_concatenated) return;
  throw UsageError(concat(call.name, ": ", whole_name, " has the shape ", all.to_string(), ", and ",
                          block_name, " ", one.to_string(), " of each of ", group.size,
                          " ranks do not fill it, neither in its first dimension nor stacked"));
}

std::vector<std::uint64_t> counts_of(TensorList list) {
  std::vector<std::uint64_t> counts;
  counts.reserve(list.tensors().size());
  for (const Tensor& tensor : list.tensors()) counts.push_back(tensor.numel());
  return counts;
}

void refuse_uneven(const CollectiveCall& call, TensorList list) {
  const auto tensors = list.tensors();
  std::size_t odd = 1;
  while (tensors[odd].numel() == tensors[odd - 1].numel()) ++odd;
  throw UsageError(concat(call.name, ": tensor ", odd - 1, " of the list has ", tensors[odd - 1].numel(),
                          " elements, tensor ", odd, " ", tensors[odd].numel(),
                          "; say {.uneven = true} on all ranks"));
}

[[gnu::hot]] bool is_in_place(const CollectiveCall& call, const GroupState& group) {
  const collective::Call& own = call.call;
  if (own.reduction != nullptr && own.reduction->prepares()) return false;
  const std::uint64_t bytes = own.question.element_bytes;
  const schedule::Operation operation = own.question.operation;
  schedule::InPlaceLayout layout;
  if (schedule::has_own_layout(operation))
    layout = schedule::in_place_layout(operation, shape_of(group, own.question));
  if (own.input - layout.input_begin * bytes != own.output - layout.output_begin * bytes)
    throw UsageError(concat(call.name, ": input and output overlap, and not as they do in place"));
  if (operation == schedule::Operation::all_to_all &&
      !std::equal(call.counts.begin(), call.counts.end(), call.receive_counts.begin(),
                  call.receive_counts.end()))
    throw UsageError(concat(call.name, ": in place as much comes from each rank as is sent to it"));
  return true;
}

void settle_path(const std::shared_ptr<GroupState>& group, CollectiveCall& call) {
  set_place(call, *group);
  choose_path(group, call);
}

}  // namespace parley::detail
