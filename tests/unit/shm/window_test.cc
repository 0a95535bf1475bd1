#include "transport/shm/window.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <string>

#include "tests/unit/shm/child.h"

namespace parley::transport::shm {
namespace {

struct Tenant final : WindowTenant {
  explicit Tenant(bool gives_up = false) : gives(gives_up) {}
  bool give_up_window() noexcept override {
    ++asked;
    return gives;
  }
  bool gives;
  int asked = 0;
};

WindowSet all() {
  return WindowSet().set();
}

// All that it may make.
void fill(WindowPool& pool) {
  for (WindowSet known; pool.made() < pool.plan().most;) known.set(pool.another(known).value());
}

TEST(WindowPool, MakesWindowsWhenAskedAndNoMoreThanPlanned) {
  WindowPool pool({.bytes = 64 << 10, .most = 2});
  EXPECT_EQ(pool.made(), 0U);
  EXPECT_EQ(pool.generation(0), 0U);
  const auto first = pool.another({});
  ASSERT_TRUE(first);
  EXPECT_EQ(pool.made(), 1U);
  EXPECT_EQ(pool.memory(*first).size(), 64U << 10);
  // A free one that the other process does not know goes before a new one.
  EXPECT_EQ(pool.another({}), first);
  WindowSet known;
  known.set(*first);
  const auto second = pool.another(known);
  ASSERT_TRUE(second);
  EXPECT_NE(*second, *first);
  known.set(*second);
  EXPECT_FALSE(pool.another(known));
  EXPECT_EQ(pool.made(), 2U);
}

TEST(WindowPool, ByDefaultAProcessHasSixteenMebibytesAtMost) {
  EXPECT_EQ(WindowPlan().most * WindowPlan().bytes, 16U << 20);
}

TEST(WindowPool, LendsAFreeOneFirst) {
  WindowPool pool({.bytes = 32 << 10, .most = 3});
  Tenant one(true), two(true), three(true);
  EXPECT_FALSE(pool.lease(all(), one)) << "there is none";
  fill(pool);
  const auto a = pool.lease(all(), one);
  const auto b = pool.lease(all(), two);
  ASSERT_TRUE(a && b);
  EXPECT_NE(*a, *b);
  pool.give_back(*a);
  WindowSet only_b;
  only_b.set(*b);
  EXPECT_TRUE(pool.lease(all(), three));
  EXPECT_EQ(one.asked + two.asked + three.asked, 0) << "nobody had to give up";
  EXPECT_EQ(pool.lease(only_b, one), b) << "of those that the peer knows";
  EXPECT_EQ(two.asked, 1);
}

TEST(WindowPool, TakesWhatWasUsedLongestAgoFromWhoGivesItUp) {
  WindowPool pool({.bytes = 32 << 10, .most = 3});
  fill(pool);
  Tenant one, two(true), three(true), four;
  const auto a = pool.lease(all(), one);
  const auto b = pool.lease(all(), two);
  const auto c = pool.lease(all(), three);
  pool.touch(*b);  // the order is now a, c, b; and the tenant of a keeps it
  EXPECT_EQ(pool.lease(all(), four), c);
  EXPECT_EQ(one.asked, 1);
  EXPECT_EQ(two.asked, 0);
  three.gives = two.gives = false;
  Tenant five;
  EXPECT_FALSE(pool.lease(all(), five)) << "all are busy";
  EXPECT_EQ(one.asked, 2);
  EXPECT_EQ(two.asked, 1);
  EXPECT_EQ(four.asked, 1);
  EXPECT_TRUE(a);
}

TEST(WindowPool, ARetiredWindowIsReplacedByAnother) {
  WindowPool pool({.bytes = 32 << 10, .most = 1});
  Tenant one;
  const auto place = pool.another({});
  ASSERT_TRUE(place && pool.lease(all(), one));
  const auto before = pool.generation(*place);
  pool.retire(*place);
  EXPECT_EQ(pool.made(), 0U);
  EXPECT_FALSE(pool.lease(all(), one));
  EXPECT_EQ(pool.another({}), place);
  EXPECT_NE(pool.generation(*place), before);
  EXPECT_TRUE(pool.lease(all(), one));
}

TEST(WindowPool, WithoutMemoryThereIsNone) {
  EXPECT_EQ(testing::in_child([] {
              const rlimit none{4096, 4096};
              setrlimit(RLIMIT_FSIZE, &none);
              WindowPool pool({.bytes = 64 << 10});
              testing::expect(!pool.another({}), "a window in files of 4 KiB");
              testing::expect(pool.made() == 0, "one was counted");
              return std::string();
            }),
            "");
}

}  // namespace
}  // namespace parley::transport::shm
