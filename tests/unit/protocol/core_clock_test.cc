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
  const auto left = ClockByHand::time += 3us;
  ClockByHand::time += 7us;
  clock.note_given_away(left, ClockByHand::time);
  EXPECT_EQ(clock.now() - before, 3us);
}

// While one thread sleeps, another one works.
TEST(CoreClock, NeverRunsBack) {
  BasicCoreClock<ClockByHand> clock;
  clock.share_core(true);
  const auto left = ClockByHand::time;
  ClockByHand::time += 10us;
  const auto begun = clock.now();
  ClockByHand::time += 5us;
  clock.note_given_away(left, ClockByHand::time);
  EXPECT_EQ(clock.now(), begun);
  ClockByHand::time += 2us;
  EXPECT_EQ(clock.now() - begun, 2us);
}

TEST(CoreClock, NoTimeIsGivenAwayTwice) {
  BasicCoreClock<ClockByHand> clock;
  clock.share_core(true);
  const auto before = clock.now(), left = ClockByHand::time;
  ClockByHand::time += 10us;
  clock.note_given_away(left, ClockByHand::time - 4us);
  clock.note_given_away(left + 2us, ClockByHand::time);
  ClockByHand::time += 1us;
  EXPECT_EQ(clock.now() - before, 1us);
}

TEST(CoreClock, WithACoreOfOnesOwnAWaitPasses) {
  BasicCoreClock<ClockByHand> clock;
  const auto before = clock.now();
  const auto left = ClockByHand::time;
  ClockByHand::time += 10us;
  clock.note_given_away(left, ClockByHand::time);
  EXPECT_EQ(clock.now() - before, 10us);
}

}  // namespace
}  // namespace parley::transport
