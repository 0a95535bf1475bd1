#include "bench/parley_collective.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace parley::bench {
namespace {

std::vector<Tensor> blocks_of(const Tensor& all, std::size_t count) {
  std::vector<Tensor> blocks;
  for (std::size_t i = 0; count > 0 && i < all.numel(); i += count)
    blocks.push_back(all.narrow(0, static_cast<std::int64_t>(i), static_cast<std::int64_t>(count)));
  return blocks;
}

}  // namespace

ParleyCollective::ParleyCollective(ProcessGroup& group, const CollectiveBuffers& buffers, Tensor out,
                                   Tensor in, bool async)
    : group_(group),
      op_(buffers.op()),
      rank_(buffers.rank()),
      async_(async),
      out_(std::move(out)),
      in_(std::move(in)),
      blocks_(blocks_of(op_ == Op::scatter ? out_ : in_, buffers.count())) {}

void ParleyCollective::call(int root) {
  if (async_)
    begin(root).wait();
  else
    begin(root);
}

Work ParleyCollective::begin(int root) {
  switch (op_) {
    case Op::broadcast: return group_.broadcast(root == rank_ ? out_ : in_, root, {.async_op = async_});
    case Op::reduce: return group_.reduce(in_, out_, root, {.async_op = async_});
    case Op::all_reduce: return group_.all_reduce(in_, out_, {.async_op = async_});
    case Op::all_gather: return group_.all_gather_into_tensor(in_, out_, {.async_op = async_});
    case Op::reduce_scatter: return group_.reduce_scatter_tensor(in_, out_, {.async_op = async_});
    case Op::all_to_all: return group_.all_to_all_single(in_, out_, {.async_op = async_});
    case Op::gather:
      return group_.gather(root == rank_ ? TensorList(blocks_) : TensorList(), out_, root,
                           {.async_op = async_});
    case Op::scatter:
      return group_.scatter(in_, root == rank_ ? TensorList(blocks_) : TensorList(), root,
                            {.async_op = async_});
    default: return group_.barrier({.async_op = async_});
  }
}

}  // namespace parley::bench
