#include "transport/shm/arena_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace parley::transport::shm {
namespace {

constexpr std::size_t page = 4096;

TEST(ArenaSpace, GivesAlignedStretchesOneAfterTheOther) {
  ArenaSpace space(page);
  const ArenaBlock* first = space.take(1);
  const ArenaBlock* second = space.take(64);
  const ArenaBlock* third = space.take(65);
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(first->offset, 0U);
  EXPECT_EQ(second->offset, 64U);
  EXPECT_EQ(third->offset, 128U);
  EXPECT_EQ(third->bytes, 128U);
  EXPECT_EQ(space.spare_bytes(), page - 256);
}

TEST(ArenaSpace, NoBytesHavePlaceOfTheirOwn) {
  ArenaSpace space(page);
  const ArenaBlock* none = space.take(0);
  const ArenaBlock* other = space.take(0);
  ASSERT_TRUE(none && other);
  EXPECT_NE(none->offset, other->offset);
}

TEST(ArenaSpace, WhatIsFullGivesNothing) {
  ArenaSpace space(page);
  EXPECT_EQ(space.take(page + 1), nullptr);
  EXPECT_EQ(space.take(std::numeric_limits<std::size_t>::max()), nullptr);
  ArenaBlock* all = space.take(page);
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(space.spare_bytes(), 0U);
  EXPECT_EQ(space.take(0), nullptr);
  EXPECT_EQ(space.take(1), nullptr);
  space.give_back(*all);
  EXPECT_NE(space.take(page), nullptr);
}

TEST(ArenaSpace, AnOddEndIsNotUsed) {
  ArenaSpace space(100);
  EXPECT_EQ(space.spare_bytes(), 64U);
  EXPECT_EQ(space.take(65), nullptr);
  EXPECT_NE(space.take(64), nullptr);
}

// Whatever the order, neighbours grow together again.
TEST(ArenaSpace, NeighboursGrowTogether) {
  std::vector<int> order{0, 1, 2, 3};
  do {
    ArenaSpace space(4 * 64);
    std::vector<ArenaBlock*> blocks;
    for (int i = 0; i < 4; ++i) blocks.push_back(space.take(64));
    for (const int i : order) space.give_back(*blocks[static_cast<std::size_t>(i)]);
    EXPECT_EQ(space.spare_bytes(), 4U * 64);
    EXPECT_NE(space.take(4 * 64), nullptr) << order[0] << order[1] << order[2] << order[3];
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(ArenaSpace, TakesTheSmallestThatFits) {
  ArenaSpace space(page);
  ArenaBlock* large = space.take(512);
  ASSERT_NE(space.take(64), nullptr);
  ArenaBlock* small = space.take(128);
  ASSERT_NE(space.take(64), nullptr);
  const std::size_t at = small->offset;
  space.give_back(*large);
  space.give_back(*small);
  const ArenaBlock* again = space.take(100);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->offset, at);
}

// Against the plainest of models: which bytes are taken.
TEST(ArenaSpace, RandomUseTakesNoByteTwiceAndLosesNone) {
  const auto seed = std::random_device()();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  constexpr std::size_t lines = 200;
  ArenaSpace space(lines * 64);
  std::vector<bool> taken(lines);
  std::vector<ArenaBlock*> blocks;
  const auto mark = [&](const ArenaBlock& block, bool is_taken) {
    for (std::size_t line = block.offset / 64; line < (block.offset + block.bytes) / 64; ++line) {
      ASSERT_NE(taken.at(line), is_taken);
      taken[line] = is_taken;
    }
  };
  // The longest stretch that is not taken.
  const auto longest = [&] {
    std::size_t most = 0, run = 0;
    for (const bool is_taken : taken) most = std::max(most, run = is_taken ? 0 : run + 1);
    return most * 64;
  };
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 2 == 0) {
      const std::size_t bytes = random() % (random() % 4 == 0 ? 4000 : 300);
      const bool fits = bytes <= longest() && longest() != 0;
      ArenaBlock* block = space.take(bytes);
      ASSERT_EQ(block != nullptr, fits) << bytes << " of " << longest();
      if (block == nullptr) continue;
      ASSERT_EQ(block->offset % 64, 0U);
      ASSERT_GE(block->bytes, bytes);
      mark(*block, true);
      blocks.push_back(block);
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      mark(*blocks.back(), false);
      space.give_back(*blocks.back());
      blocks.pop_back();
    }
    const auto free_lines = static_cast<std::size_t>(std::count(taken.begin(), taken.end(), false));
    ASSERT_EQ(space.spare_bytes(), free_lines * 64);
  }
}

}  // namespace
}  // namespace parley::transport::shm
