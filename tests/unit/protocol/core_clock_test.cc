#include "transport/protocol/core_clock.h"

#include <gtest/gtest.h>

#include <chrono>

namespace parley::transport {
namespace {

using namespace std::chrono_literals;

struct ClockByHand {
  using time_point = std::chrono::steady_clock::time_point;
  using duration = std::chrono::steady_clock::duration;
  static time_point now() { return time; }
  static inline time_point time{1h};
};

TEST(CoreClock, WhatIsGivenAwayDoesNotPassWhereCoresAreShared) {
  BasicCoreClock<ClockByHand> clock;
  clock.share_core(true);
  const auto before = clock.now();
  ClockByHand::time += 10us;
  clock.note_given_away(7us);
  EXPECT_EQ(clock.now() - before, 3us);
}

TEST(CoreClock, WithACoreOfOnesOwnAWaitPasses) {
  BasicCoreClock<ClockByHand> clock;
  const auto before = clock.now();
  ClockByHand::time += 10us;
  clock.note_given_away(7us);
  EXPECT_EQ(clock.now() - before, 10us);
}

}  // namespace
}  // namespace parley::transport
