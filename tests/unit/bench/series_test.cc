#include "bench/series.h"

#include <gtest/gtest.h>

#include <array>

namespace parley::bench {
namespace {

const std::array<Series, 2> two_pairs = {Series{{2, 4}, {1, 9}}, Series{{6, 4}, {5}}};

TEST(Series, AppendKeepsEachRoundAndAllSamples) {
  Series series;
  series.append({3, {1, 2}});
  series.append({5, {4}});
  EXPECT_EQ(series.round_us, (std::vector<double>{3, 5}));
  EXPECT_EQ(series.tail_us, (std::vector<double>{1, 2, 4}));
}

TEST(Series, LatenciesOfPairsAreAveragedRoundByRound) {
  const Series all = combine(Op::latency, two_pairs);
  EXPECT_EQ(all.round_us, (std::vector<double>{4, 4}));
  EXPECT_EQ(all.tail_us, (std::vector<double>{1, 9, 5}));
}

TEST(Series, RatesOfPairsAddUp) {
  // 1/2 + 1/6 = 2/3 and 1/4 + 1/4 = 1/2 messages a microsecond.
  const Series all = combine(Op::bandwidth, two_pairs);
  ASSERT_EQ(all.round_us.size(), 2U);
  EXPECT_DOUBLE_EQ(all.round_us[0], 1.5);
  EXPECT_DOUBLE_EQ(all.round_us[1], 2);
}

TEST(Series, OnePairIsItself) {
  const Series one{{2, 3}, {7}};
  const Series all = combine(Op::message_rate, std::array<Series, 1>{one});
  ASSERT_EQ(all.round_us.size(), 2U);
  EXPECT_DOUBLE_EQ(all.round_us[0], 2);
  EXPECT_DOUBLE_EQ(all.round_us[1], 3);
  EXPECT_EQ(all.tail_us, one.tail_us);
}

}  // namespace
}  // namespace parley::bench
