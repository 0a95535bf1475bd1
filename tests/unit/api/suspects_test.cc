#include "api/wireup/suspects.h"

#include <gtest/gtest.h>

#include <vector>

namespace parley::wireup {
namespace {

std::vector<int> ranks_of(const std::vector<Absentee>& absentees) {
  std::vector<int> ranks;
  for (const Absentee& one : absentees) ranks.push_back(one.rank);
  return ranks;
}

TEST(Suspects, AreConfirmedWhenTheyAreFoundTwiceInARow) {
  Suspects suspects;
  EXPECT_TRUE(suspects.confirm({{3, "its process is dead"}}).empty());
  EXPECT_TRUE(suspects.has_any());
  const auto confirmed = suspects.confirm({{2, "its process is dead"}, {3, "its process is dead"}});
  EXPECT_EQ(ranks_of(confirmed), std::vector{3});
  EXPECT_EQ(confirmed.front().why, "its process is dead");
  EXPECT_EQ(ranks_of(suspects.confirm({{2, ""}})), std::vector{2});
}

// It had ended in good order, and now its goodbye was read.
TEST(Suspects, WhoIsNotFoundAgainWasNone) {
  Suspects suspects;
  EXPECT_TRUE(suspects.confirm({{1, ""}}).empty());
  EXPECT_TRUE(suspects.confirm({}).empty());
  EXPECT_FALSE(suspects.has_any());
  EXPECT_TRUE(suspects.confirm({{1, ""}}).empty()) << "from the beginning";
}

}  // namespace
}  // namespace parley::wireup
