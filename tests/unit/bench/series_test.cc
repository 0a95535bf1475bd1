#include "bench/series.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace parley::bench {
namespace {

const std::array<Series, 2> two_pairs = {Series{{2, 4}, {1, 9}, {}}, Series{{6, 4}, {5, 7}, {}}};

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
  EXPECT_EQ(all.tail_us, (std::vector<double>{1, 5, 9, 7}));
}

TEST(Series, RatesOfPairsAddUp) {
  // 1/2 + 1/6 = 2/3 and 1/4 + 1/4 = 1/2 messages a microsecond.
  const Series all = combine(Op::bandwidth, two_pairs);
  ASSERT_EQ(all.round_us.size(), 2U);
  EXPECT_DOUBLE_EQ(all.round_us[0], 1.5);
  EXPECT_DOUBLE_EQ(all.round_us[1], 2);
}

TEST(Series, OnePairIsItself) {
  const Series one{{2, 3}, {7, 8}, {0.5, 1}};
  const Series all = combine(Op::message_rate, std::array<Series, 1>{one});
  ASSERT_EQ(all.round_us.size(), 2U);
  EXPECT_DOUBLE_EQ(all.round_us[0], 2);
  EXPECT_DOUBLE_EQ(all.round_us[1], 3);
  EXPECT_EQ(all.tail_us, one.tail_us);
  EXPECT_EQ(all.core_share, one.core_share);
}

// A rank that does not lead has no times, but a core to lose.
TEST(Series, TheSmallestCoreShareOfARoundCounts) {
  const std::array<Series, 3> ranks = {Series{{2, 4}, {}, {1, 0.9}}, Series{{}, {}, {0.7, 1}},
                                       Series{{2, 4}, {}, {0.8, 0.95}}};
  const Series all = combine(Op::latency, ranks);
  EXPECT_EQ(all.round_us, (std::vector<double>{2, 4}));
  EXPECT_EQ(all.core_share, (std::vector<double>{0.7, 0.9}));
}

TEST(Series, CoreSharesThatAreNotAllKnownSayNothing) {
  const std::array<Series, 2> ranks = {Series{{2, 4}, {}, {1, 0.9}}, Series{{}, {}, {0.7}}};
  EXPECT_TRUE(combine(Op::latency, ranks).core_share.empty());
}

TEST(Series, OnlySomeRoundsWithWhatBelongsToThem) {
  const Series all{{1, 2, 3}, {11, 12, 21, 22, 31, 32}, {0.1, 0.2, 0.3}};
  const Series left = only(all, std::array<std::size_t, 2>{0, 2});
  EXPECT_EQ(left.round_us, (std::vector<double>{1, 3}));
  EXPECT_EQ(left.tail_us, (std::vector<double>{11, 12, 31, 32}));
  EXPECT_EQ(left.core_share, (std::vector<double>{0.1, 0.3}));
}

using Rounds = std::vector<std::size_t>;

Series with_shares(std::vector<double> core_share) {
  return {std::vector<double>(core_share.size(), 1.0), {}, std::move(core_share)};
}

TEST(RoundsThatCount, AreThoseInWhichNoSystemWasDisturbed) {
  EXPECT_EQ(rounds_that_count(std::array{with_shares({1, 0.5, 1, 0.95}), with_shares({1, 1, 0.9, 1})}),
            (Rounds{0, 3}));
  EXPECT_EQ(rounds_that_count(std::array{with_shares({0.5, 1, 0.94}), with_shares({1, 0.99, 1})}),
            (Rounds{1}));
}

TEST(RoundsThatCount, AreAllWhenFewerThanAThirdIsLeft) {
  EXPECT_EQ(rounds_that_count(std::array{with_shares({0.5, 1, 1, 1}), with_shares({1, 1, 0.5, 0.5})}),
            (Rounds{0, 1, 2, 3}));
  EXPECT_EQ(rounds_that_count(std::array{with_shares({0.5}), with_shares({1})}), (Rounds{0}));
}

TEST(RoundsThatCount, AreAllWhereNothingIsKnown) {
  const Series unknown{{1, 1}, {}, {}};
  EXPECT_EQ(rounds_that_count(std::array{unknown, unknown}), (Rounds{0, 1}));
}

}  // namespace
}  // namespace parley::bench
