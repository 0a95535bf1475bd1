#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>

#include "transport/base/non_temporal.h"
#include "transport/base/store_choice.h"

namespace parley::base {
namespace {

using namespace std::chrono_literals;
using Way = StoreChoice::Way;

// How many chunks of 4 KiB were timed, and how many went past the caches, of so many; a timed one takes
// `cached` to be done.
struct Went {
  int timed = 0;
  int past_caches = 0;
};
Went write_chunks(StoreChoice& choice, int chunks, std::chrono::nanoseconds cached) {
  Went went;
  for (int i = 0; i < chunks; ++i) {
    const Way way = choice.next();
    if (way == Way::past_caches) ++went.past_caches;
    if (way != Way::cached_timed) continue;
    ++went.timed;
    choice.note(cached, 4096);
  }
  return went;
}

constexpr auto near = 400ns;
constexpr auto far = 1'400ns;

struct StoppedClock {
  static std::chrono::steady_clock::time_point now() { return {}; }
};

class StoreChoiceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_copy_past_caches) GTEST_SKIP() << "there is no copy past the caches on this processor";
  }
  StoreChoice choice_;
};

TEST_F(StoreChoiceTest, StaysInTheCachesWhereLinesCostLittle) {
  const Went went = write_chunks(choice_, 3200, near);
  EXPECT_EQ(went.past_caches, 0);
  EXPECT_EQ(went.timed, 100);
}

TEST_F(StoreChoiceTest, GoesPastThemWhereLinesCostMuch) {
  (void)write_chunks(choice_, 32 + 2, far);
  const Went went = write_chunks(choice_, 12'800, far);
  EXPECT_EQ(went.past_caches, 12'700);
  EXPECT_EQ(went.timed, 100);
}

TEST_F(StoreChoiceTest, ComesBackWhenTheCoresHaveMoved) {
  (void)write_chunks(choice_, 1000, far);
  // The next trial, and two more that confirm it.
  const Went back = write_chunks(choice_, 128 + 2, near);
  EXPECT_LT(back.past_caches, 128);
  EXPECT_EQ(write_chunks(choice_, 1000, near).past_caches, 0);
}

TEST_F(StoreChoiceTest, OneLateChunkTellsNothing) {
  for (int i = 0; i < 100; ++i) {
    while (choice_.next() != Way::cached_timed) {
    }
    choice_.note(1ms, 1024);
    EXPECT_EQ(choice_.next(), Way::cached_timed) << "a doubt is looked into at once";
    choice_.note(100ns, 1024);
    EXPECT_EQ(choice_.next(), Way::cached);
  }
}

TEST_F(StoreChoiceTest, CopiesAsItSays) {
  std::string ways;
  const auto store = [&](std::size_t bytes) {
    store_as_chosen<StoppedClock>(
        choice_, bytes, [&] { ways += 'c'; }, [&] { ways += 'p'; });
  };
  (void)write_chunks(choice_, 32 + 2, far);
  store(StoreChoice::least_bytes);
  store(StoreChoice::least_bytes - 1);
  store(4096);
  EXPECT_EQ(ways, "pcp");
  // The trial goes through the caches, and takes no time here; so do the two that confirm it.
  (void)write_chunks(choice_, 125, far);
  ways.clear();
  for (int i = 0; i < 5; ++i) store(4096);
  EXPECT_EQ(ways, "ccccc");
}

TEST_F(StoreChoiceTest, GoesByTheTimePerByte) {
  while (choice_.next() != Way::cached_timed) {
  }
  choice_.note(5us, 64 << 10);  // 78 ns for each KiB
  EXPECT_EQ(choice_.next(), Way::cached);
}

}  // namespace
}  // namespace parley::base
