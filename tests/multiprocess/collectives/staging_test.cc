// Calls on boards that do something before their first step or after their last.
#include <gtest/gtest.h>
#include <parley/parley.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "tests/multiprocess/collectives/boards.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/sanitizer.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

class StagedCalls : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(OfSoManyRanks, StagedCalls,
                         ::testing::ValuesIn(sanitizer::is_on ? std::vector{2, 3} : std::vector{2, 3, 4, 7}));

// Of each kind of call one rank in turn comes late, so that the others have begun it by themselves and have
// to wait; in other rounds none does.
class LateRank {
 public:
  explicit LateRank(const ProcessGroup& world) : rank_(world.rank()), ranks_(world.size()) {}
  void wait_before_a_call() {
    const int number = calls_++;
    if (number % 3 == 0 && number / 3 % ranks_ == rank_) std::this_thread::sleep_for(300us);
  }

 private:
  int rank_, ranks_;
  int calls_ = 0;
};

// 7 doubles stand beside a mark, 20'000 may be lent, 70'000 are more than is done at once.
constexpr std::size_t counts[] = {2, 7, 8, 14, 15, 1'000, 20'000, 70'000};

TEST_P(StagedCalls, FoldByEveryOperator) {
  const auto run = [](int rank, int ranks) {
    ProcessGroup world = init();
    warm_up(world);
    LateRank late(world);
    const ReduceOp twice = ReduceOp::premul_sum(2.0);
    const double sum = ranks * (ranks + 1) / 2.0;
    for (const std::size_t count : counts)
      for (const bool async_op : {false, true})
        for (int round = 0; round < 4; ++round) {
          const bool is_lent = round == 3;
          const auto expect_folded = [&](const ReduceOp& op, double expected) {
            Tensor data = is_lent ? world.shared_tensor({static_cast<std::int64_t>(count)}, DType::f64)
                                  : Tensor::empty({static_cast<std::int64_t>(count)}, DType::f64);
            data.fill(rank + 1.0);
            late.wait_before_a_call();
            world.all_reduce(data, {.op = op, .async_op = async_op}).wait();
            const std::span<double> got = data.data_as<double>();
            EXPECT_EQ(std::vector<double>(got.begin(), got.end()), std::vector<double>(count, expected));
          };
          expect_folded(ReduceOp::avg, sum / ranks);
          expect_folded(ReduceOp::max, ranks);
          expect_folded(twice, 2 * sum);
          expect_folded(ReduceOp::avg, sum / ranks);
        }
    expect_no_failure();
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, over_shm), 0);
}

// Tensors that lie apart: what rank `from` has for rank `to`, each time in another place.
TEST_P(StagedCalls, BringListsTogetherAndHandThemOut) {
  const auto run = [](int rank, int ranks) {
    ProcessGroup world = init();
    warm_up(world);
    LateRank late(world);
    const auto self = static_cast<std::size_t>(rank);
    const auto all = static_cast<std::size_t>(ranks);
    for (const std::size_t count : counts)
      for (int round = 0; round < 8; ++round) {
        const auto content = [&](int from, int to) {
          return std::vector<double>(count, 100 * from + to + round);
        };
        std::vector<std::vector<double>> own, got(all, std::vector<double>(count));
        std::vector<Tensor> out, in;
        for (int other = 0; other < ranks; ++other)
          out.push_back(Tensor(own.emplace_back(content(rank, other))));
        for (std::vector<double>& each : got) in.push_back(Tensor(each));
        const auto begin = [&] {
          for (std::vector<double>& each : got) std::fill(each.begin(), each.end(), -1);
          late.wait_before_a_call();
        };
        const int root = round % ranks;
        begin();
        world.all_to_all(in, out);
        for (int other = 0; other < ranks; ++other)
          EXPECT_EQ(got[static_cast<std::size_t>(other)], content(other, rank));
        begin();
        world.all_gather(in, out[self]);
        for (int other = 0; other < ranks; ++other)
          EXPECT_EQ(got[static_cast<std::size_t>(other)], content(other, other));
        begin();
        world.scatter(in[self], rank == root ? TensorList(out) : TensorList(), root);
        EXPECT_EQ(got[self], content(root, rank));
        begin();
        world.gather(rank == root ? TensorList(in) : TensorList(), out[self], root);
        for (int other = 0; rank == root && other < ranks; ++other)
          EXPECT_EQ(got[static_cast<std::size_t>(other)], content(other, other));
        begin();
        world.reduce_scatter(in[self], out, {.op = ReduceOp::premul_sum(2.0)});
        const double sum = 2 * (100 * ranks * (ranks - 1) / 2 + ranks * (rank + round));
        EXPECT_EQ(got[self], std::vector<double>(count, sum));
      }
    expect_no_failure();
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, over_shm), 0);
}

}  // namespace
}  // namespace parley::testing
