#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/scatter.h>

#include "bench/peers/gloo_collective.h"

namespace parley::bench {
namespace {

using Mesh = std::shared_ptr<gloo::Context>;
using Call = std::function<void(int root, std::uint32_t tag)>;

void add(void* sum, const void* left, const void* right, std::size_t count) {
  gloo::sum<float>(sum, left, right, count);
}

Call broadcast(const Mesh& mesh, CollectiveBuffers& buffers) {
  auto from = std::make_shared<gloo::BroadcastOptions>(mesh);
  from->setOutput(buffers.out().data(), buffers.count());
  auto to = std::make_shared<gloo::BroadcastOptions>(mesh);
  to->setOutput(buffers.in().data(), buffers.count());
  return [=, rank = buffers.rank()](int root, std::uint32_t tag) {
    gloo::BroadcastOptions& options = root == rank ? *from : *to;
    options.setRoot(root);
    options.setTag(tag);
    gloo::broadcast(options);
  };
}

// Gloo works in the output of each rank, also of one that gets nothing.
Call reduce(const Mesh& mesh, CollectiveBuffers& buffers) {
  auto scratch = std::make_shared<std::vector<float>>(buffers.count());
  auto to_me = std::make_shared<gloo::ReduceOptions>(mesh);
  to_me->setOutput(buffers.in().data(), buffers.count());
  auto to_another = std::make_shared<gloo::ReduceOptions>(mesh);
  to_another->setOutput(scratch->data(), scratch->size());
  for (const auto& options : {to_me, to_another}) {
    options->setInput(buffers.out().data(), buffers.count());
    options->setReduceFunction(add);
  }
  return [=, rank = buffers.rank()](int root, std::uint32_t tag) {
    static_cast<void>(scratch);  // lives as long as the call
    gloo::ReduceOptions& options = root == rank ? *to_me : *to_another;
    options.setRoot(root);
    options.setTag(tag);
    gloo::reduce(options);
  };
}

Call all_reduce(const Mesh& mesh, CollectiveBuffers& buffers) {
  auto options = std::make_shared<gloo::AllreduceOptions>(mesh);
  options->setInput(buffers.out().data(), buffers.count());
  options->setOutput(buffers.in().data(), buffers.count());
  options->setReduceFunction(add);
  return [=](int, std::uint32_t tag) {
    options->setTag(tag);
    gloo::allreduce(*options);
  };
}

// gloo::allgather and gloo::alltoall.
template <typename Options>
Call to_all(const Mesh& mesh, CollectiveBuffers& buffers, void (*function)(Options&)) {
  auto options = std::make_shared<Options>(mesh);
  options->setInput(buffers.out().data(), buffers.out().size());
  options->setOutput(buffers.in().data(), buffers.in().size());
  return [=](int, std::uint32_t tag) {
    options->setTag(tag);
    function(*options);
  };
}

Call gather(const Mesh& mesh, CollectiveBuffers& buffers) {
  auto options = std::make_shared<gloo::GatherOptions>(mesh);
  options->setInput(buffers.out().data(), buffers.out().size());
  options->setOutput(buffers.in().data(), buffers.in().size());
  return [=](int root, std::uint32_t tag) {
    options->setRoot(root);
    options->setTag(tag);
    gloo::gather(*options);
  };
}

Call scatter(const Mesh& mesh, CollectiveBuffers& buffers) {
  std::vector<float*> blocks;
  for (std::size_t i = 0; i < buffers.out().size(); i += buffers.count()) {
    blocks.push_back(buffers.out().data() + i);
  }
  auto options = std::make_shared<gloo::ScatterOptions>(mesh);
  options->setInputs(blocks, buffers.count());
  options->setOutput(buffers.in().data(), buffers.count());
  return [=](int root, std::uint32_t tag) {
    options->setRoot(root);
    options->setTag(tag);
    gloo::scatter(*options);
  };
}

Call barrier(const Mesh& mesh) {
  auto options = std::make_shared<gloo::BarrierOptions>(mesh);
  return [=](int, std::uint32_t tag) {
    options->setTag(tag);
    gloo::barrier(*options);
  };
}

Call make_call(const Mesh& mesh, CollectiveBuffers& buffers) {
  switch (buffers.op()) {
    case Op::broadcast: return broadcast(mesh, buffers);
    case Op::reduce: return reduce(mesh, buffers);
    case Op::all_reduce: return all_reduce(mesh, buffers);
    case Op::all_gather: return to_all<gloo::AllgatherOptions>(mesh, buffers, gloo::allgather);
    case Op::all_to_all: return to_all<gloo::AlltoallOptions>(mesh, buffers, gloo::alltoall);
    case Op::gather: return gather(mesh, buffers);
    case Op::scatter: return scatter(mesh, buffers);
    default: return barrier(mesh);
  }
}

}  // namespace

bool GlooFunctions::offers(Op op) noexcept {
  return is_collective(op) && op != Op::reduce_scatter;
}

GlooFunctions::GlooFunctions(const std::shared_ptr<gloo::Context>& mesh, CollectiveBuffers& buffers)
    : call_(make_call(mesh, buffers)) {}

}  // namespace parley::bench
