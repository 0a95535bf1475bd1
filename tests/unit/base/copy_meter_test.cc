// What copies cost, by a clock that is told.
#include "transport/base/copy_meter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>

namespace parley::base {
namespace {

using namespace std::chrono_literals;

struct ToldClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<ToldClock>;
  static time_point now() { return time_point{} + told; }
  static inline duration told{1h};
};
using Meter = BasicCopyMeter<ToldClock>;

constexpr std::size_t large = Meter::least_bytes;

void copy(Meter& meter, std::size_t bytes, std::chrono::nanoseconds took) {
  const auto began = meter.begin(bytes);
  ToldClock::told += took;
  meter.end(began, bytes);
}
void copies(Meter& meter, int many, std::size_t bytes, std::chrono::nanoseconds took) {
  for (int i = 0; i < many; ++i) copy(meter, bytes, took);
}

TEST(CopyMeter, TimesAFewOfTheLargeOnes) {
  Meter meter;
  copies(meter, 1000, large - 1, 1us);
  EXPECT_EQ(meter.take().bytes, 0U);
  copies(meter, 1000, large, 2us);
  const CopyWork work = meter.take();
  EXPECT_GT(work.bytes, 50 * large);
  EXPECT_LT(work.bytes, 500 * large);
  EXPECT_FLOAT_EQ(work.ns / static_cast<float>(work.bytes), 2000.0F / large);
  EXPECT_EQ(meter.take().bytes, 0U) << "since the last call";
}

TEST(CopyMeter, LeavesOutWhatWasDisturbed) {
  Meter meter;
  // Each time the third that is timed.
  const auto to_the_third = static_cast<int>(3 * Meter::copies_per_timing);
  for (int i = 0; i < 100; ++i) {
    copies(meter, to_the_third - 1, large, 2us);
    copy(meter, large, 3ms);
  }
  const CopyWork work = meter.take();
  EXPECT_GT(work.bytes, 0U);
  EXPECT_FLOAT_EQ(work.ns / static_cast<float>(work.bytes), 2000.0F / large);
}

// A copy that could not be made is not made again at once.
TEST(CopyMeter, WhatHasNotEndedDoesNotCount) {
  Meter meter;
  for (int i = 0; i < 1000; ++i) {
    (void)meter.begin(large);
    ToldClock::told += 1s;
    copy(meter, large, 2us);
  }
  const CopyWork work = meter.take();
  EXPECT_FLOAT_EQ(work.ns / static_cast<float>(work.bytes), 2000.0F / large);
}

}  // namespace
}  // namespace parley::base
