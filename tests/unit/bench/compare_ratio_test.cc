#include "bench/compare/ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace parley::bench::compare {
namespace {

// Noise that is the same in every run, between -1 and 1.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed) {}
  double operator()() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 11) / static_cast<double>(1ULL << 52) - 1;
  }

 private:
  std::uint64_t state_;
};

TEST(CompareRatio, MedianOfPairedRatios) {
  const Ratio ratio = median_ratio(std::vector<double>{1.1, 1.3, 1.2, 1.2, 9.0});
  EXPECT_EQ(ratio.value, 1.2);
  EXPECT_EQ(ratio.count, 5);
}

TEST(CompareRatio, OfFiveValuesReachesFromTheLeastToTheLargest) {
  const Ratio ratio = median_ratio(std::vector<double>{1.1, 1.3, 1.2, 1.25, 1.15});
  ASSERT_TRUE(ratio.bounds);
  EXPECT_EQ(ratio.bounds->lo, 1.1);
  EXPECT_EQ(ratio.bounds->hi, 1.3);
}

TEST(CompareRatio, OfEqualValuesHasNoWidth) {
  const Ratio ratio = median_ratio(std::vector<double>(7, 1.5));
  ASSERT_TRUE(ratio.bounds);
  EXPECT_EQ(ratio.bounds->lo, 1.5);
  EXPECT_EQ(ratio.bounds->hi, 1.5);
}

TEST(CompareRatio, OfTwoValuesHasNoInterval) {
  EXPECT_FALSE(median_ratio(std::vector<double>{1, 2}).bounds);
  EXPECT_FALSE(ratio_of_medians(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2}).bounds);
}

TEST(CompareRatio, OneOutlierOfElevenIsOutsideTheInterval) {
  std::vector<double> values{50};
  for (int i = 0; i < 10; ++i) values.push_back(1 + i / 100.0);
  const Ratio ratio = median_ratio(values);
  EXPECT_LT(ratio.bounds->hi, 1.1);
}

TEST(CompareRatio, IsTheSameInEveryRun) {
  const std::vector<double> values{1.1, 0.9, 1.3, 0.8, 1.0, 1.2, 1.05};
  const Ratio one = median_ratio(values);
  const Ratio two = median_ratio(values);
  EXPECT_EQ(one.bounds->lo, two.bounds->lo);
  EXPECT_EQ(one.bounds->hi, two.bounds->hi);
}

// The promise of 95 %: for 200 comparisons of a system with itself, 1 is inside nearly always.
TEST(CompareRatio, HoldsTheTruthAsOftenAsItSays) {
  Noise noise(7);
  int holds = 0;
  constexpr int comparisons = 200;
  for (int i = 0; i < comparisons; ++i) {
    std::vector<double> ratios;
    for (int round = 0; round < 9; ++round) ratios.push_back(std::exp(0.1 * noise() - 0.1 * noise()));
    const Ratio ratio = median_ratio(ratios);
    if (ratio.bounds->lo <= 1 && ratio.bounds->hi >= 1) ++holds;
  }
  EXPECT_GE(holds, comparisons * 92 / 100);
  EXPECT_LT(holds, comparisons);
}

TEST(CompareRatio, OfTwoRunsIsTheRatioOfTheirMedians) {
  const Ratio ratio =
      ratio_of_medians(std::vector<double>{2.6, 2.5, 2.7, 2.6, 2.6}, std::vector<double>{2, 2.1, 1.9, 2, 2});
  EXPECT_DOUBLE_EQ(ratio.value, 1.3);
  EXPECT_GT(ratio.bounds->lo, 1.15);
  EXPECT_LT(ratio.bounds->hi, 1.45);
}

}  // namespace
}  // namespace parley::bench::compare
