// A library's collectives measured between threads; nothing is expected of how fast they are.
#include "bench/library_session.h"

#include <gtest/gtest.h>
#include <parley/testing.h>

#include <memory>
#include <optional>
#include <vector>

#include "bench/parley_library.h"
#include "tests/unit/bench/quick.h"

namespace parley::bench {
namespace {

TEST(LibrarySession, FindsNothingWrongWithParley) {
  for (const Op op : {Op::broadcast, Op::all_reduce, Op::all_to_all}) {
    const Options options = quick(op);
    testing::run_world(4, [&](ProcessGroup& group) {
      ParleyLibrary library(group, options);
      LibrarySession session(library, options, Idle::yield);
      const auto rows = session.measure(1000);
      ASSERT_EQ(rows.has_value(), group.rank() == 0);
      if (!rows) return;
      ASSERT_EQ(rows->size(), 1U);
      EXPECT_EQ(rows->front().wrong, 0U);
      EXPECT_GT(rows->front().bus_mb_per_s.value_or(0), 0);
    });
  }
}

// All that it does is right but for two elements of rank 1.
class Mistaken final : public Library {
 public:
  explicit Mistaken(ProcessGroup& group, const Options& options) : right_(group, options) {}
  World& world() override { return right_.world(); }
  std::vector<Contender> collective_contenders(const Stage& stage, CollectiveBuffers& buffers) override {
    std::vector<Contender> contenders = right_.collective_contenders(stage, buffers);
    contenders[0].phase = [right = contenders[0].phase, &buffers](const Plan& plan) {
      PhaseResult result = right(plan);
      if (buffers.rank() == 1) buffers.in()[0] += 1, buffers.in()[7] = 0;
      return result;
    };
    return contenders;
  }

 private:
  ParleyLibrary right_;
};

TEST(LibrarySession, CountsWrongElementsOfEveryRankAndTurn) {
  const Options options = quick(Op::all_reduce);
  testing::run_world(2, [&](ProcessGroup& group) {
    Mistaken library(group, options);
    LibrarySession session(library, options, Idle::yield);
    const auto rows = session.measure(64);
    if (!rows) return;
    EXPECT_EQ(rows->front().wrong, 4U);
    EXPECT_EQ(rows->front().void_reason, "4 elements are wrong");
  });
}

}  // namespace
}  // namespace parley::bench
