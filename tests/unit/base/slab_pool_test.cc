#include "transport/base/slab_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

namespace parley::base {
namespace {

struct alignas(128) Wide {
  explicit Wide(int number) : value(number) {}
  int value;
};

struct Tracked {
  explicit Tracked(int& live) : live_(live) { ++live_; }
  Tracked(const Tracked&) = delete;
  ~Tracked() { --live_; }
  int& live_;
};

struct Throwing {
  explicit Throwing(bool fail) {
    if (fail) throw std::runtime_error("no");
  }
  std::uint64_t filler = 0x5555555555555555;
};

TEST(SlabPool, GrowsBeyondOneSlabAndKeepsObjectsApart) {
  SlabPool<Wide, 4> pool;
  std::vector<Wide*> objects;
  for (int i = 0; i < 30; ++i) objects.push_back(pool.create(i));
  EXPECT_EQ(pool.live(), 30u);
  EXPECT_EQ(std::set<Wide*>(objects.begin(), objects.end()).size(), 30u);
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(objects[static_cast<std::size_t>(i)]->value, i);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(objects[static_cast<std::size_t>(i)]) % alignof(Wide), 0u);
  }
  for (Wide* object : objects) pool.destroy(object);
  EXPECT_EQ(pool.live(), 0u);
}

TEST(SlabPool, RecyclesWhatWasGivenBack) {
  SlabPool<Wide, 4> pool;
  std::set<Wide*> first;
  for (int i = 0; i < 8; ++i) first.insert(pool.create(i));
  for (Wide* object : first) pool.destroy(object);
  std::set<Wide*> second;
  for (int i = 0; i < 8; ++i) second.insert(pool.create(i));
  EXPECT_EQ(first, second);
  for (Wide* object : second) pool.destroy(object);
}

TEST(SlabPool, RunsConstructorsAndDestructors) {
  int live = 0;
  SlabPool<Tracked> pool;
  Tracked* a = pool.create(live);
  Tracked* b = pool.create(live);
  EXPECT_EQ(live, 2);
  pool.destroy(a);
  EXPECT_EQ(live, 1);
  pool.destroy(b);
  EXPECT_EQ(live, 0);
}

TEST(SlabPool, AConstructorThatThrowsLosesNoSlot) {
  SlabPool<Throwing, 2> pool;
  for (int i = 0; i < 5; ++i) EXPECT_THROW(pool.create(true), std::runtime_error);
  EXPECT_EQ(pool.live(), 0u);
  Throwing* a = pool.create(false);
  Throwing* b = pool.create(false);
  EXPECT_NE(a, b);
  EXPECT_EQ(pool.live(), 2u);
  pool.destroy(a);
  pool.destroy(b);
}

}  // namespace
}  // namespace parley::base
