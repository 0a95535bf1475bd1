// Which messages a sender tenders, by what their receiver has told it and by what it tries.
#include "transport/protocol/tender_turns.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace parley::transport {
namespace {

constexpr std::size_t small = 16 << 10, large = 64 << 10;
constexpr int lap_of_small = static_cast<int>(TenderTurns::lap_bytes / small);

// How many of so many messages are tendered.
int tendered(TenderTurns& turns, int messages, std::size_t bytes) {
  int count = 0;
  for (int i = 0; i < messages; ++i) count += turns.next(bytes) ? 1 : 0;
  return count;
}

TEST(TenderTurns, TendersUntilItHearsOtherwise) {
  TenderTurns turns;
  EXPECT_EQ(tendered(turns, TenderTurns::before_first_trial, small), TenderTurns::before_first_trial);
}

TEST(TenderTurns, TriesTheLinkOnceRoundItsMemory) {
  TenderTurns turns;
  tendered(turns, TenderTurns::before_first_trial, small);
  EXPECT_EQ(tendered(turns, lap_of_small, small), 0);
  EXPECT_EQ(tendered(turns, 4 * lap_of_small, small), 4 * lap_of_small);
  EXPECT_EQ(tendered(turns, lap_of_small, small), 0);
}

TEST(TenderTurns, TriesAFewPullsWhereTheLinkIsFaster) {
  constexpr int few = static_cast<int>(TenderTurns::longest_trial_of_pulls);
  constexpr int restraint = static_cast<int>(TenderTurns::restraint_after_news);
  TenderTurns turns;
  turns.hear(0);
  EXPECT_EQ(tendered(turns, TenderTurns::after_news, small), 0);
  EXPECT_EQ(tendered(turns, few, small), few);
  EXPECT_EQ(tendered(turns, restraint * few, small), 0);
  EXPECT_EQ(tendered(turns, few, small), few);
}

TEST(TenderTurns, TriesTheSlowerOneOnLessThanOnePercent) {
  for (const std::uint32_t pulled : {PathChoice::all_pulled, 0U}) {
    TenderTurns turns;
    turns.hear(pulled);
    const int messages = 1000 * lap_of_small;
    tendered(turns, messages, small);
    const int more = tendered(turns, messages, small);
    const int tried = pulled != 0 ? messages - more : more;
    EXPECT_GT(tried, 0);
    EXPECT_LT(tried, messages / 100);
  }
}

TEST(TenderTurns, ATrialEndsWithWhatItHasBrought) {
  TenderTurns turns;
  tendered(turns, TenderTurns::before_first_trial + 10, small);
  turns.hear(0);
  EXPECT_EQ(tendered(turns, TenderTurns::after_news, small), 0) << "what was on trial has won";
}

TEST(TenderTurns, EachSizeHasItsOwn) {
  TenderTurns turns;
  turns.hear(1U << PathChoice::class_of(large));
  EXPECT_EQ(tendered(turns, 8, small), 0);
  EXPECT_EQ(tendered(turns, 8, large), 8);
  EXPECT_TRUE(turns.next(std::size_t{1} << 30)) << "nobody has a say in what is that large";
}

}  // namespace
}  // namespace parley::transport
