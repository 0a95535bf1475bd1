#include "bench/statistics.h"

#include <gtest/gtest.h>

#include <numeric>

namespace parley::bench {
namespace {

TEST(Statistics, MedianOfAnOddCountIsTheMiddleSample) {
  EXPECT_EQ(median({5}), 5);
  EXPECT_EQ(median({9, 1, 5}), 5);
}

TEST(Statistics, MedianOfAnEvenCountIsTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median({1, 2}), 1.5);
  EXPECT_EQ(median({100, 4, 2, 1}), 3);
}

TEST(Statistics, PercentileIsTheNearestRank) {
  std::vector<double> one_to_hundred(100);
  std::iota(one_to_hundred.rbegin(), one_to_hundred.rend(), 1);
  EXPECT_EQ(percentile(one_to_hundred, 99), 99);
  EXPECT_EQ(percentile(one_to_hundred, 99.5), 100);
  EXPECT_EQ(percentile(one_to_hundred, 100), 100);
  EXPECT_EQ(percentile(one_to_hundred, 0.1), 1);
  EXPECT_EQ(percentile({7}, 99), 7);
  EXPECT_EQ(percentile({3, 1, 2}, 99), 3);
}

TEST(Statistics, Extremes) {
  EXPECT_EQ(smallest({3, 1, 2}), 1);
  EXPECT_EQ(largest({3, 1, 2}), 3);
}

}  // namespace
}  // namespace parley::bench
