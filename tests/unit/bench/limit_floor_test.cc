// Which raw figures are no limits. Times of a machine with 60 ns from core to core and 40 GB/s.
#include "bench/limits/limit_floor.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/bench/units.h"

namespace parley::bench {
namespace {

constexpr Reference near{55, 65, 40, true};

bool is_void(Op op, bool over_shm, std::size_t bytes, double us, const Reference& reference = near) {
  return limit_void_reason({op, over_shm, 2, bytes, us}, reference).has_value();
}

TEST(LimitFloor, WhatWasSeenIsSound) {
  EXPECT_FALSE(is_void(Op::latency, true, 8, 0.05));
  EXPECT_FALSE(is_void(Op::latency, true, 64 * kib, 4));
  EXPECT_FALSE(is_void(Op::latency, true, 16 * mib, 1300));
  EXPECT_FALSE(is_void(Op::bandwidth, true, 8, 0.03));
  EXPECT_FALSE(is_void(Op::message_rate, true, 64 * kib, 4));
  EXPECT_FALSE(is_void(Op::bidirectional, true, 8 * kib, 0.064));
  EXPECT_FALSE(is_void(Op::latency, false, 8, 3.3));
  EXPECT_FALSE(is_void(Op::latency, false, 64 * kib, 17));
  EXPECT_FALSE(is_void(Op::bandwidth, false, 8, 0.12));
  EXPECT_FALSE(is_void(Op::bandwidth, false, 16 * mib, 2700));
  EXPECT_FALSE(is_void(Op::bidirectional, false, 8, 0.03));
}

// A sleep takes 60 us and more.
TEST(LimitFloor, ALoopThatSleepsIsVoidAlsoInWindowsAndAboveACell) {
  EXPECT_TRUE(is_void(Op::latency, true, kib, 60));
  EXPECT_TRUE(is_void(Op::latency, true, 64 * kib, 64));
  EXPECT_TRUE(is_void(Op::bandwidth, true, 8, 60.0 / 64));
  EXPECT_TRUE(is_void(Op::message_rate, true, kib, 60.0 / 64));
  EXPECT_TRUE(is_void(Op::bidirectional, true, 8, 60.0 / 128));
  EXPECT_TRUE(is_void(Op::latency, false, 64 * kib, 17 + 65));
  EXPECT_TRUE(is_void(Op::bandwidth, false, 8, 120.0 / 64));
  EXPECT_TRUE(is_void(Op::bidirectional, false, 8, 120.0 / 128));
}

TEST(LimitFloor, SaysInWordsWhatItWasHeldAgainst) {
  EXPECT_EQ(limit_void_reason({Op::bandwidth, true, 2, 1000, 5}, near),
            "the raw loop took 5.00 us for 1000 B, and by the run's own hops (0.26 us at most) and memcpy "
            "(40 GB/s) "
            "no more than 0.66: it did not spin");
}

// The loop's median round may have been far where the probe's was near.
TEST(LimitFloor, ARunInTwoPlacesIsHeldAgainstBoth) {
  constexpr Reference both{55, 260, 40, true};
  EXPECT_FALSE(is_void(Op::latency, true, 8, 0.27, both));
  EXPECT_FALSE(is_void(Op::latency, true, 8, 0.05, both));
  EXPECT_TRUE(is_void(Op::latency, true, 8, 0.27, near));
}

// It was stolen in one round: that is no reason to believe in loops that take as long.
TEST(LimitFloor, AProbeWithoutItsCoreExcusesNothing) {
  constexpr Reference stolen{55, 5e6, 40, true};
  EXPECT_TRUE(is_void(Op::latency, true, 8, 60, stolen));
  EXPECT_TRUE(is_void(Op::latency, true, kib, 60, stolen));
}

TEST(LimitFloor, PairsShareTheMemory) {
  const auto reason = [](int ranks) {
    return limit_void_reason({Op::latency, true, ranks, mib, 1000}, near);
  };
  EXPECT_TRUE(reason(2));
  EXPECT_FALSE(reason(8));
}

TEST(LimitFloor, WithMoreRanksThanCoresOnlyBytesThatAreNotMovedTell) {
  constexpr Reference shared{5e4, 5e4, 40, false};
  EXPECT_FALSE(is_void(Op::latency, true, 8, 4000, shared));
  EXPECT_FALSE(is_void(Op::bandwidth, false, kib, 4000, shared));
  EXPECT_TRUE(is_void(Op::bandwidth, true, mib, 1, shared));
}

TEST(LimitFloor, WhatIsNotKnownIsNotHeldAgainstIt) {
  EXPECT_FALSE(is_void(Op::latency, true, mib, 1e6, {0, 0, 40, true}));
  EXPECT_FALSE(is_void(Op::bandwidth, true, mib, 1e6, {55, 65, 0, true}));
  EXPECT_FALSE(is_void(Op::all_reduce, true, 4096, 1e6));
  EXPECT_TRUE(is_void(Op::all_reduce, true, 8, 1e6)) << "two that exchange a line";
  EXPECT_FALSE(is_void(Op::broadcast, true, 8, 1e6));
  EXPECT_FALSE(is_void(Op::message_rate, false, 8, 1e6));
}

}  // namespace
}  // namespace parley::bench
