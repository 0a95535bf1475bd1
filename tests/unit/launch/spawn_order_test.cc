#include "api/launch/spawn_order.h"

#include <gtest/gtest.h>

namespace parley::launch {
namespace {

TEST(SpawnOrder, SurvivesTheEnvironment) {
  const SpawnOrder order{4711, 2, 4, {9, 18'000'000'000'000'000'000U}, {0, call_was_refused, 137}};
  const auto decoded = decode_spawn_order(encode(order));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->launcher, order.launcher);
  EXPECT_EQ(decoded->rank, order.rank);
  EXPECT_EQ(decoded->count, order.count);
  EXPECT_EQ(decoded->arrival.fd, order.arrival.fd);
  EXPECT_EQ(decoded->arrival.inode, order.arrival.inode);
  EXPECT_EQ(decoded->earlier, order.earlier);
}

TEST(SpawnOrder, TheFirstCallHasNoneBefore) {
  const auto decoded = decode_spawn_order(encode({1, 0, 1, {3, 4}, {}}));
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->earlier.empty());
}

TEST(SpawnOrder, AnythingElseIsNone) {
  for (const char* text : {"", "1", "1 2 3 4", "a b c d e", "1 0 1 3 4 x", "1 0 1 3 4 0 failed"})
    EXPECT_FALSE(decode_spawn_order(text)) << text;
}

TEST(SpawnOrder, ThisProcessHasNone) {
  EXPECT_FALSE(own_spawn_order());
}

}  // namespace
}  // namespace parley::launch
