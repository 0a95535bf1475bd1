// What ranks tell each other of what they lend: it stays until something else is told.
#include <gtest/gtest.h>

#include "api/collective/commons.h"
#include "tests/unit/api/collectives/boards_in_memory.h"

namespace parley::collective {
namespace {

using testing::BoardsInMemory;

LoanCard card_of(std::uint64_t bytes) {
  LoanCard card;
  card.lent = LoanCard::input_bit;
  card.buffers[0].bytes = bytes;
  return card;
}

TEST(LoanCards, TellWhatWasWrittenLast) {
  const BoardsInMemory boards(2, {.bytes = 4096});
  for (const std::uint64_t bytes : {100U, 100U, 200U, 100U}) {
    boards.of(0).write_card(3, card_of(bytes));
    EXPECT_EQ(boards.of(1).card(0, 3), card_of(bytes));
    EXPECT_EQ(boards.of(1).card(0, 4), LoanCard()) << "each tells of its own calls";
  }
}

TEST(LoanCards, ThatWereWithdrawnCountAgainOnceTheyAreWrittenAgain) {
  const BoardsInMemory boards(2, {.bytes = 4096});
  boards.of(0).write_card(3, card_of(100));
  EXPECT_FALSE(boards.of(1).is_card_withdrawn(0, 3));
  boards.of(0).withdraw_card(3);
  EXPECT_TRUE(boards.of(1).is_card_withdrawn(0, 3));
  boards.of(0).write_card(3, card_of(100));
  EXPECT_FALSE(boards.of(1).is_card_withdrawn(0, 3));
}

}  // namespace
}  // namespace parley::collective
