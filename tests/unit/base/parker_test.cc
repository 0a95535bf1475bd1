#include "transport/base/parker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace parley::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds hang_limit{60};  // reached only by a lost wake-up

TEST(Parker, APermitMakesTheNextParkReturnAtOnce) {
  Parker parker;
  parker.unpark();
  EXPECT_TRUE(parker.park(Deadline::after(hang_limit)));
}

TEST(Parker, PermitsDoNotAddUp) {
  Parker parker;
  parker.unpark();
  parker.unpark();
  EXPECT_TRUE(parker.park(Deadline::after(hang_limit)));
  EXPECT_FALSE(parker.park(Deadline::after(milliseconds(1))));
}

TEST(Parker, ReturnsFalseAtTheDeadline) {
  Parker parker;
  const auto before = Clock::now();
  EXPECT_FALSE(parker.park(Deadline::after(milliseconds(5))));
  EXPECT_GE(Clock::now() - before, milliseconds(5));
  EXPECT_FALSE(parker.park(Deadline::at(Clock::time_point())));
}

TEST(Parker, ATimeoutLeavesItUsable) {
  Parker parker;
  EXPECT_FALSE(parker.park(Deadline::after(milliseconds(1))));
  parker.unpark();
  EXPECT_TRUE(parker.park(Deadline::never()));
}

TEST(Parker, TwoThreadsPassABallWithoutLosingIt) {
  constexpr int rounds = 5000;
  Parker parkers[2];
  int ball = 0;  // not atomic: the parkers order its accesses, and ThreadSanitizer checks that they do
  auto play = [&](int me) {
    for (int round = 0; round < rounds; ++round) {
      if (!parkers[me].park(Deadline::after(hang_limit)) || ball % 2 != me) return;
      ++ball;
      parkers[1 - me].unpark();
    }
  };
  parkers[0].unpark();
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  EXPECT_EQ(ball, 2 * rounds);
}

TEST(Parker, NoUnparkIsLostAmongSeveral) {
  // The parker sleeps until both flags of a round are up. An unpark() that comes while another one's permit
  // is being consumed must either be kept or have made its flag visible.
  constexpr int rounds = 2000;
  Parker parker;
  std::atomic<int> flags[2] = {0, 0};
  std::atomic<int> round{0};
  auto raise = [&](int which) {
    for (int mine = 1; mine <= rounds; ++mine) {
      while (round.load(std::memory_order_acquire) < mine) std::this_thread::yield();
      flags[which].store(mine, std::memory_order_relaxed);
      parker.unpark();
    }
  };
  std::thread first(raise, 0);
  std::thread second(raise, 1);
  bool lost = false;
  for (int mine = 1; mine <= rounds; ++mine) {
    round.store(mine, std::memory_order_release);
    for (const auto& flag : flags)
      while (!lost && flag.load(std::memory_order_relaxed) < mine)
        lost = !parker.park(Deadline::after(hang_limit));
  }
  first.join();
  second.join();
  EXPECT_FALSE(lost);
}

}  // namespace
}  // namespace parley::base
