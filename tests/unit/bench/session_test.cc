// Whole measurements between threads of one process; figures are checked for consistency, never for speed.
#include "bench/session.h"

#include <gtest/gtest.h>
#include <parley/testing.h>

#include "bench/core_watch.h"
#include "tests/unit/bench/quick.h"

namespace parley::bench {
namespace {

void expect_sound(const Row& row, Op op, int ranks, std::size_t bytes) {
  EXPECT_EQ(row.subject.op, op);
  EXPECT_EQ(row.subject.ranks, ranks);
  EXPECT_EQ(row.subject.bytes, bytes);
  EXPECT_EQ(row.rounds, 2);
  EXPECT_GT(row.lo_us, 0);
  EXPECT_LE(row.lo_us, row.median_us);
  EXPECT_LE(row.median_us, row.hi_us);
  EXPECT_GT(row.probe_ns, 0);
  EXPECT_EQ(row.p99_us.has_value(), op == Op::latency);
  EXPECT_EQ(row.mb_per_s.has_value(), is_windowed(op));
}

// Measures on all ranks; rank 0 alone gets figures.
void measure(Op op, int ranks, std::size_t bytes, bool rewrite = false) {
  Options options = quick(op);
  options.rewrite = rewrite;
  testing::run_world(ranks, [&](ProcessGroup& group) {
    Session session(group, options, Idle::yield);
    const std::optional<Figures> figures = session.measure(bytes);
    ASSERT_EQ(figures.has_value(), group.rank() == 0);
    if (!figures) return;
    EXPECT_EQ(figures->parley.system, "parley");
    EXPECT_EQ(figures->raw.system, "raw");
    expect_sound(figures->parley, op, ranks, bytes);
    expect_sound(figures->raw, op, ranks, bytes);
    EXPECT_EQ(figures->parley.ratio_to_limit.has_value(), op != Op::message_rate);
    EXPECT_FALSE(figures->raw.ratio_to_limit);
    EXPECT_FALSE(figures->parley.core_share) << "yielding loops say nothing about their core";
    EXPECT_FALSE(figures->raw.core_share);
    EXPECT_EQ(figures->parley.rounds_left_out, 0);
  });
}

TEST(Session, Latency) {
  measure(Op::latency, 2, 8);
  measure(Op::latency, 2, 100'000);
}

TEST(Session, Bandwidth) {
  measure(Op::bandwidth, 2, 1);
  measure(Op::bandwidth, 2, 100'000);
}

TEST(Session, Bidirectional) {
  measure(Op::bidirectional, 2, 1);
  // More than the kernel holds for a connection.
  measure(Op::bidirectional, 2, std::size_t{1} << 20);
}

// Received data is compared with what was written last.
TEST(Session, BuffersWrittenAnewBetweenExchanges) {
  for (const Op op : {Op::latency, Op::bandwidth, Op::bidirectional}) measure(op, 2, 1000, true);
}

// Of both systems: a library's turn is spoiled by a rival as well as a raw one.
TEST(Session, SpinningLoopsTellTheirShareOfTheCore) {
  const Options options = quick(Op::latency);
  const bool kernel_tells = CoreWatch().share().has_value();
  testing::run_world(2, [&](ProcessGroup& group) {
    Session session(group, options, Idle::spin);
    const std::optional<Figures> figures = session.measure(8);
    if (!figures) return;
    EXPECT_EQ(figures->parley.rounds, figures->raw.rounds);
    EXPECT_EQ(figures->parley.rounds_left_out, options.rounds - figures->parley.rounds);
    for (const Row& row : {figures->parley, figures->raw}) {
      ASSERT_EQ(row.core_share.has_value(), kernel_tells) << row.system;
      EXPECT_LE(row.core_share.value_or(1), 1) << row.system;
    }
  });
}

TEST(Session, MessageRate) {
  measure(Op::message_rate, 2, 8);
}

TEST(Session, TwoPairsAtOnce) {
  measure(Op::latency, 4, 8);
  measure(Op::bandwidth, 4, 1024);
}

}  // namespace
}  // namespace parley::bench
