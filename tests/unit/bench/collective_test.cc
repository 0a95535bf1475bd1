#include "bench/collective.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/collective_buffers.h"

namespace parley::bench {
namespace {

constexpr std::size_t bytes = 40;

// The same operation on all ranks, done by hand.
class Ranks {
 public:
  Ranks(Op op, int ranks) {
    for (int rank = 0; rank < ranks; ++rank)
      buffers_.emplace_back(op, op == Op::barrier ? 0 : bytes, rank, ranks);
  }

  void call(int root) {
    const auto from = static_cast<std::size_t>(root);
    for (std::size_t rank = 0; rank < buffers_.size(); ++rank) {
      receive(rank, from);
      buffers_[rank].called(root);
    }
  }
  void rewrite() {
    for (CollectiveBuffers& each : buffers_) each.rewrite_out();
  }
  std::vector<CollectiveBuffers>& buffers() { return buffers_; }

 private:
  void receive(std::size_t rank, std::size_t root) {
    CollectiveBuffers& mine = buffers_[rank];
    const std::size_t count = mine.count();
    for (std::size_t i = 0; i < mine.in().size(); ++i) {
      switch (mine.op()) {
        case Op::broadcast:
          if (rank != root) mine.in()[i] = buffers_[root].out()[i];
          break;
        case Op::reduce:
          if (rank == root) mine.in()[i] = sum(i);
          break;
        case Op::gather:
          if (rank == root) mine.in()[i] = buffers_[i / count].out()[i % count];
          break;
        case Op::all_reduce: mine.in()[i] = sum(i); break;
        case Op::reduce_scatter: mine.in()[i] = sum(rank * count + i); break;
        case Op::all_gather: mine.in()[i] = buffers_[i / count].out()[i % count]; break;
        case Op::all_to_all: mine.in()[i] = buffers_[i / count].out()[rank * count + i % count]; break;
        case Op::scatter: mine.in()[i] = buffers_[root].out()[rank * count + i]; break;
        default: FAIL();
      }
    }
  }
  float sum(std::size_t index) {
    float total = 0;
    for (CollectiveBuffers& each : buffers_) total += each.out()[index];
    return total;
  }

  std::vector<CollectiveBuffers> buffers_;
};

std::vector<Op> collectives() {
  std::vector<Op> ops;
  for (const Operation& each : operations) {
    if (is_collective(each.op)) ops.push_back(each.op);
  }
  return ops;
}

TEST(CollectiveBuffers, AcceptWhatEachCollectiveBrings) {
  for (const Op op : collectives()) {
    for (const int count : {2, 4}) {
      Ranks ranks(op, count);
      for (int root = 0; root < count; ++root) {
        ranks.call(root);
        for (CollectiveBuffers& each : ranks.buffers()) EXPECT_EQ(each.count_wrong(), 0U) << to_string(op);
        ranks.rewrite();
      }
    }
  }
}

TEST(CollectiveBuffers, CountEveryWrongElement) {
  for (const Op op : collectives()) {
    if (op == Op::barrier) continue;
    Ranks ranks(op, 2);
    ranks.call(0);
    CollectiveBuffers& at = ranks.buffers()[op == Op::broadcast ? 1 : 0];
    for (std::size_t i = 0; i < at.in().size(); ++i) {
      const float right = at.in()[i];
      at.in()[i] += 1;
      EXPECT_EQ(at.count_wrong(), 1U) << to_string(op) << ' ' << i;
      at.in()[i] = right;
    }
    EXPECT_EQ(at.count_wrong(), 0U);
  }
}

TEST(CollectiveBuffers, RefuseTheResultOfAnEarlierCall) {
  for (const Op op : collectives()) {
    if (op == Op::barrier) continue;
    Ranks ranks(op, 2);
    ranks.call(0);
    ranks.rewrite();
    CollectiveBuffers& at = ranks.buffers()[op == Op::broadcast ? 1 : 0];
    at.called(0);
    EXPECT_GT(at.count_wrong(), 0U) << to_string(op);
  }
}

TEST(CollectiveBuffers, SpoiledOnesHoldNoResult) {
  Ranks ranks(Op::all_reduce, 2);
  ranks.call(0);
  CollectiveBuffers& at = ranks.buffers()[1];
  at.spoil_in();
  EXPECT_EQ(at.count_wrong(), 0U) << "nothing has come since";
  at.called(0);
  EXPECT_EQ(at.count_wrong(), at.in().size());
}

TEST(CollectiveBuffers, GiveAndGetBlocks) {
  CollectiveBuffers all_to_all(Op::all_to_all, bytes, 1, 4);
  EXPECT_EQ(all_to_all.count(), bytes / sizeof(float));
  EXPECT_EQ(all_to_all.out().size(), 4 * all_to_all.count());
  EXPECT_EQ(all_to_all.in().size(), 4 * all_to_all.count());
  CollectiveBuffers reduce(Op::reduce, bytes, 1, 4);
  EXPECT_EQ(reduce.out().size(), reduce.count());
  EXPECT_EQ(reduce.in().size(), reduce.count());
}

struct RootRecorder {
  std::string roots;
  void call(int root) { roots += std::to_string(root); }
};

TEST(CollectiveExchange, EveryRankIsTheRootInTurn) {
  CollectiveBuffers buffers(Op::barrier, 0, 0, 3);
  for (const bool leads : {true, false}) {
    RootRecorder recorder;
    CollectiveExchange exchange(recorder, buffers);
    constexpr Plan plan{.warmup = 1, .batches = 2, .batch_length = 2, .tail_samples = 2};
    const PhaseResult result = run_collective_phase(exchange, plan, leads);
    EXPECT_EQ(recorder.roots, "0120120");
    EXPECT_EQ(result.tail_us.size(), leads ? 2U : 0U);
  }
}

TEST(CollectiveBuffers, TellWhetherACallHasBroughtARankSomething) {
  for (const Op op : {Op::broadcast, Op::gather, Op::reduce, Op::all_gather, Op::barrier}) {
    CollectiveBuffers buffers(op, op == Op::barrier ? 0 : 8, 1, 2);
    EXPECT_EQ(buffers.called(1), op == Op::gather || op == Op::reduce || op == Op::all_gather);
    EXPECT_EQ(buffers.called(0), op == Op::broadcast || op == Op::all_gather);
  }
}

}  // namespace
}  // namespace parley::bench
