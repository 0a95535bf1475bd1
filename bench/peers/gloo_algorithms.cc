#include <gloo/allgather_ring.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/barrier_all_to_one.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/reduce_scatter.h>

#include <algorithm>

#include "bench/peers/gloo_collective.h"

namespace parley::bench {
namespace {

// Bytes each way that a connection over loopback surely holds: half of what Linux lets its receiver's and its
// sender's buffer grow to (tcp_rmem 6 MiB, tcp_wmem 4 MiB), for its accounts count more than the data.
constexpr std::size_t held_bytes = std::size_t{4} << 20;

// What two ranks send to each other at once.
std::size_t crossing_bytes(Op op, std::size_t bytes, int ranks) noexcept {
  switch (op) {
    case Op::all_reduce: return bytes / 2;
    case Op::reduce_scatter: return bytes * static_cast<std::size_t>(ranks) / 2;
    case Op::all_gather: return bytes;
    default: return 0;
  }
}

}  // namespace

bool GlooAlgorithms::offers(Op op) noexcept {
  return op == Op::broadcast || op == Op::all_reduce || op == Op::all_gather || op == Op::reduce_scatter ||
         op == Op::barrier;
}

bool GlooAlgorithms::may_poll(Op op, std::size_t bytes, int ranks) noexcept {
  return offers(op) && crossing_bytes(op, bytes, ranks) <= held_bytes;
}

GlooAlgorithms::GlooAlgorithms(const std::shared_ptr<gloo::Context>& mesh, CollectiveBuffers& buffers)
    : buffers_(buffers) {
  float* const out = buffers.out().data();
  float* const in = buffers.in().data();
  const auto count = static_cast<int>(buffers.count());
  switch (buffers.op()) {
    case Op::broadcast:
      for (int root = 0; root < buffers.ranks(); ++root) {
        algorithms_.push_back(std::make_unique<gloo::BroadcastOneToAll<float>>(
            mesh, std::vector<float*>{root == buffers.rank() ? out : in}, buffers.count(), root));
      }
      break;
    case Op::all_reduce:
      algorithms_.push_back(
          std::make_unique<gloo::AllreduceHalvingDoubling<float>>(mesh, std::vector<float*>{in}, count));
      break;
    case Op::all_gather:
      algorithms_.push_back(
          std::make_unique<gloo::AllgatherRing<float>>(mesh, std::vector<const float*>{out}, in, count));
      break;
    case Op::reduce_scatter:
      in_place_.resize(buffers.out().size());
      algorithms_.push_back(std::make_unique<gloo::ReduceScatterHalvingDoubling<float>>(
          mesh, std::vector<float*>{in_place_.data()}, static_cast<int>(in_place_.size()),
          std::vector<int>(static_cast<std::size_t>(buffers.ranks()), count)));
      break;
    default: algorithms_.push_back(std::make_unique<gloo::BarrierAllToOne>(mesh));
  }
}

void GlooAlgorithms::call(int root) {
  if (buffers_.op() == Op::broadcast) return algorithms_[static_cast<std::size_t>(root)]->run();
  if (buffers_.op() == Op::all_reduce) std::ranges::copy(buffers_.out(), buffers_.in().data());
  if (buffers_.op() == Op::reduce_scatter) std::ranges::copy(buffers_.out(), in_place_.data());
  algorithms_.front()->run();
  if (buffers_.op() == Op::reduce_scatter)
    std::copy_n(in_place_.data(), buffers_.count(), buffers_.in().data());
}

}  // namespace parley::bench
