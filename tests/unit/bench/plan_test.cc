#include "bench/plan.h"

#include <gtest/gtest.h>

#include "bench/sizes.h"

namespace parley::bench {
namespace {

constexpr double round_us = 10'000;

TEST(Plan, EverySizeHasWarmupAndTimedExchanges) {
  for (const Op op : {Op::latency, Op::bandwidth, Op::bidirectional, Op::message_rate}) {
    for (const std::size_t bytes : parse_sizes("1:1G")) {
      const Plan plan = make_plan(op, bytes, round_us);
      EXPECT_GE(plan.warmup, 1) << to_string(op) << ' ' << bytes;
      EXPECT_GE(plan.batches * plan.batch_length, 1) << to_string(op) << ' ' << bytes;
      EXPECT_EQ(plan.exchanges(), plan.warmup + plan.batches * plan.batch_length + plan.tail_samples);
    }
  }
}

// Or the first windows, for which memory is made, would be among those measured.
TEST(Plan, AnEighthOfTheExchangesWarmsUp) {
  for (const Op op : {Op::latency, Op::bandwidth, Op::bidirectional, Op::message_rate}) {
    const Plan plan = make_plan(op, 4096, round_us);
    EXPECT_GE(9 * plan.warmup, plan.exchanges() - plan.tail_samples - 8) << to_string(op);
  }
}

TEST(Plan, LongerRoundsHaveMoreExchanges) {
  for (const Op op : {Op::latency, Op::bandwidth}) {
    EXPECT_GT(make_plan(op, 8, 20'000).exchanges(), make_plan(op, 8, 10'000).exchanges()) << to_string(op);
    EXPECT_GE(make_plan(op, 1 << 30, 1).batches, 1) << to_string(op);
    EXPECT_LE(make_plan(op, 1 << 30, 1).exchanges(), 16) << to_string(op);
  }
}

TEST(Plan, CheapMessagesFillARoundToo) {
  for (const Op op : {Op::latency, Op::bandwidth, Op::message_rate}) {
    EXPECT_GT(make_plan(op, 8, round_us, shared_cache).exchanges(), make_plan(op, 8, round_us).exchanges());
    EXPECT_LT(make_plan(op, 8, round_us, shared_core).exchanges(),
              make_plan(op, 8, round_us, shared_cache).exchanges());
  }
}

TEST(Plan, ShortRoundTripsShareAClockReading) {
  const Plan plan = make_plan(Op::latency, 8, round_us);
  EXPECT_GT(plan.batch_length, 1);
  EXPECT_GT(plan.tail_samples, 0);
  EXPECT_FALSE(plan.batches_are_samples);
  EXPECT_EQ(plan.divisor, 2);
}

TEST(Plan, LongRoundTripsAreTimedOneByOne) {
  const Plan plan = make_plan(Op::latency, 1 << 20, round_us);
  EXPECT_EQ(plan.batch_length, 1);
  EXPECT_EQ(plan.tail_samples, 0);
  EXPECT_TRUE(plan.batches_are_samples);
}

TEST(Plan, WindowsHave64MessagesUntilTheyAreVeryLarge) {
  for (const std::size_t bytes : parse_sizes("1:4M")) {
    const Plan plan = make_plan(Op::bandwidth, bytes, round_us);
    EXPECT_EQ(plan.window, 64) << bytes;
    EXPECT_EQ(plan.divisor, 64) << bytes;
  }
  EXPECT_EQ(make_plan(Op::bandwidth, 16 << 20, round_us).window, 16);
  EXPECT_EQ(make_plan(Op::bandwidth, std::size_t{1} << 30, round_us).window, 4);
}

TEST(Plan, BothDirectionsCount) {
  const Plan plan = make_plan(Op::bidirectional, 1024, round_us);
  EXPECT_EQ(plan.window, 64);
  EXPECT_EQ(plan.divisor, 128);
}

TEST(Plan, FollowsWhatAnExchangeTakes) {
  // Ten a round, each too long to share a clock reading.
  const Plan slow = make_plan(Op::latency, 8, round_us, 1000);
  EXPECT_EQ(slow.batches, 10);
  EXPECT_EQ(slow.batch_length, 1);
  EXPECT_TRUE(slow.batches_are_samples);
  EXPECT_EQ(make_plan(Op::bandwidth, 8, round_us, 1000).batch_length, 10);
  EXPECT_GT(make_plan(Op::latency, 8, round_us, 1).batch_length, 1);
}

TEST(Plan, ACollectiveIsOneCall) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{1} << 20}) {
    const Plan plan = make_plan(Op::all_reduce, bytes, round_us, 10);
    EXPECT_EQ(plan.window, 1);
    EXPECT_EQ(plan.divisor, 1);
    EXPECT_GE(plan.warmup, 1);
  }
}

TEST(Plan, PercentilesBelongToLatencyOnly) {
  for (const std::size_t bytes : parse_sizes("1:1G")) {
    const Plan plan = make_plan(Op::bandwidth, bytes, round_us);
    EXPECT_EQ(plan.tail_samples, 0);
    EXPECT_FALSE(plan.batches_are_samples);
  }
}

TEST(Plan, RotationsAreWhole) {
  for (const double exchange_us : {1.0, 500.0, 1e6}) {
    const Plan single = make_plan(Op::broadcast, 8, 10'000, exchange_us);
    const Plan plan = in_whole_rotations(single, 3);
    EXPECT_EQ(plan.warmup % 3, 0);
    EXPECT_EQ(plan.batch_length % 3, 0);
    EXPECT_EQ(plan.tail_samples % 3, 0);
    EXPECT_GE(plan.batches, 1);
    EXPECT_LE(plan.batches * plan.batch_length, std::max(3, single.batches * single.batch_length + 3));
  }
}

}  // namespace
}  // namespace parley::bench
