// Calls on boards that do something before their first step or after their last.
#include <gtest/gtest.h>
#include <parley/parley.h>

#include <chrono>
#include <cstddef>
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

TEST_P(StagedCalls, FoldByEveryOperator) {
  const auto run = [](int rank, int ranks) {
    ProcessGroup world = init();
    for (int i = 0; i < 6; ++i) world.barrier();
    const ReduceOp twice = ReduceOp::premul_sum(2.0);
    for (const std::size_t count : {2, 14, 15, 70'000})
      for (const bool async_op : {false, true})
        for (int round = 0; round < 3; ++round) {
          if (round == 1 && rank == 0) std::this_thread::sleep_for(500us);
          const auto fold = [&](const ReduceOp& op) {
            std::vector<double> data(count, rank + 1.0);
            world.all_reduce(data, {.op = op, .async_op = async_op}).wait();
            return data;
          };
          const double sum = ranks * (ranks + 1) / 2.0;
          EXPECT_EQ(fold(ReduceOp::avg), std::vector<double>(count, sum / ranks));
          EXPECT_EQ(fold(ReduceOp::max), std::vector<double>(count, ranks));
          EXPECT_EQ(fold(twice), std::vector<double>(count, 2 * sum));
        }
    expect_no_failure();
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, over_shm), 0);
}

// Tensors that lie apart, also where a rank has begun such a call by itself and then has to wait.
TEST_P(StagedCalls, BringListsTogetherAndHandThemOut) {
  const auto run = [](int rank, int ranks) {
    ProcessGroup world = init();
    for (int i = 0; i < 6; ++i) world.barrier();
    for (const std::size_t count : {1, 14, 1'000, 40'000})
      for (int round = 0; round < 12; ++round) {
        if (round % 3 == 0 && rank == round / 3 % ranks) std::this_thread::sleep_for(500us);
        std::vector<std::vector<int>> own, got;
        std::vector<Tensor> out, in;
        for (int other = 0; other < ranks; ++other) {
          out.push_back(Tensor(own.emplace_back(count, 100 * rank + other + round)));
          in.push_back(Tensor(got.emplace_back(count, -1)));
        }
        const auto expect_from = [&](int from, int to, const std::vector<int>& content) {
          EXPECT_EQ(content, std::vector<int>(count, 100 * from + to + round)) << "from rank " << from;
        };
        const auto self = static_cast<std::size_t>(rank);
        const int root = round % ranks;
        world.all_to_all(in, out);
        for (int other = 0; other < ranks; ++other)
          expect_from(other, rank, got[static_cast<std::size_t>(other)]);
        world.all_gather(in, out[self]);
        for (int other = 0; other < ranks; ++other)
          expect_from(other, other, got[static_cast<std::size_t>(other)]);
        world.scatter(in[self], rank == root ? TensorList(out) : TensorList(), root);
        expect_from(root, rank, got[self]);
        world.gather(rank == root ? TensorList(in) : TensorList(), out[self], root);
        if (rank == root)
          for (int other = 0; other < ranks; ++other)
            expect_from(other, other, got[static_cast<std::size_t>(other)]);
      }
    expect_no_failure();
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, over_shm), 0);
}

}  // namespace
}  // namespace parley::testing
