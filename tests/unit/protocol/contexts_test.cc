#include "transport/protocol/contexts.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace parley::transport {
namespace {

TEST(ContextTable, WhatIsOpenHasItsMembersAndNothingElseIsKnown) {
  ContextTable table;
  table.open(7, {5, 1, 3});
  ASSERT_NE(table.find(7), nullptr);
  EXPECT_EQ(table.find(7)->members, (std::vector<std::uint32_t>{1, 3, 5}));
  EXPECT_TRUE(table.find(7)->has_member(3));
  EXPECT_FALSE(table.find(7)->has_member(2));
  EXPECT_EQ(table.find(6), nullptr);
  EXPECT_FALSE(table.is_closed(7));
  EXPECT_FALSE(table.is_closed(6));
  table.close(7);
  EXPECT_EQ(table.find(7), nullptr);
  EXPECT_TRUE(table.is_closed(7));
  table.close(6);  // was never open
  EXPECT_FALSE(table.is_closed(6));
}

TEST(ContextTable, DeparturesOfMembersAreKnownWhetherTheyComeBeforeOrAfter) {
  ContextTable table;
  EXPECT_TRUE(table.note_departure(7, 1));
  EXPECT_TRUE(table.note_departure(7, 4));  // no member, as it will turn out
  EXPECT_TRUE(table.note_departure(8, 1));
  table.open(7, {0, 1, 2});
  EXPECT_TRUE(table.note_departure(7, 2));
  EXPECT_TRUE(table.note_departure(7, 2));
  EXPECT_EQ(table.find(7)->left, (std::vector<std::uint32_t>{1, 2}));
  table.close(7);
  EXPECT_TRUE(table.note_departure(7, 0));
  table.open(8, {0, 1});
  EXPECT_TRUE(table.find(8)->has_left(1));
}

TEST(ContextTable, ForgedDeparturesAreBoundedForEachProcess) {
  ContextTable table;
  for (std::size_t i = 0; i < max_told_departures; ++i)
    ASSERT_TRUE(table.note_departure(static_cast<std::uint32_t>(i + 10), 1));
  EXPECT_TRUE(table.note_departure(11, 1)) << "known";
  EXPECT_FALSE(table.note_departure(5, 1));
  EXPECT_TRUE(table.note_departure(5, 2)) << "another process";
  table.open(10, {0, 1});  // takes its own out
  EXPECT_TRUE(table.note_departure(5, 1));
}

// Against a set that simply remembers all.
TEST(ContextTable, RemembersWhatWasClosedInWhateverOrder) {
  const auto seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  ContextTable table;
  std::set<std::uint32_t> open, closed;
  for (int step = 0; step < 20'000; ++step) {
    const auto context = static_cast<std::uint32_t>(random() % 300);
    if (open.contains(context)) {
      table.close(context);
      open.erase(context);
      closed.insert(context);
    } else if (!closed.contains(context) && random() % 4 == 0) {
      table.open(context, {0, 1});
      open.insert(context);
    }
    const auto other = static_cast<std::uint32_t>(random() % 302);
    ASSERT_EQ(table.is_closed(other), closed.contains(other)) << other;
    ASSERT_EQ(table.find(other) != nullptr, open.contains(other)) << other;
  }
}

}  // namespace
}  // namespace parley::transport
