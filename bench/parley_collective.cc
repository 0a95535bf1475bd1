#include "bench/parley_collective.h"

#include <cstddef>
#include <span>

namespace parley::bench {
namespace {

std::vector<Tensor> blocks_of(std::span<float> memory, std::size_t count) {
  std::vector<Tensor> blocks;
  for (std::size_t i = 0; count > 0 && i < memory.size(); i += count)
    blocks.emplace_back(memory.subspan(i, count));
  return blocks;
}

}  // namespace

ParleyCollective::ParleyCollective(ProcessGroup& group, CollectiveBuffers& buffers, bool async)
    : group_(group),
      op_(buffers.op()),
      rank_(buffers.rank()),
      async_(async),
      out_(buffers.out()),
      in_(buffers.in()),
      blocks_(blocks_of(op_ == Op::scatter ? buffers.out() : buffers.in(), buffers.count())) {}

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
