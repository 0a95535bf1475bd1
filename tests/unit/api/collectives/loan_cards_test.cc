// What ranks tell each other of what they lend, and how long a call has taken them: it stays until something
// else is told.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

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

auto content_of(const LoanCard& card) {
  const auto& [input, output] = card.buffers;
  return std::tuple(card.lent, card.timed_call, card.took_ns, input.key.bytes, input.bytes, output.key.bytes,
                    output.bytes);
}

// Whatever it is that differs from what stood there.
TEST(LoanCards, TellWhatWasWrittenLast) {
  const BoardsInMemory boards(2, {.usual = {4096}});
  std::vector<LoanCard> cards(9, card_of(100));
  cards[1].lent = LoanCard::output_bit;
  cards[2].timed_call = 5;
  cards[3].took_ns = 6;
  cards[4].buffers[0].key.bytes[23] = std::byte{7};
  cards[5].buffers[0].bytes = 8;
  cards[6].buffers[1].key.bytes[0] = std::byte{9};
  cards[7].buffers[1].bytes = 10;
  for (const LoanCard& card : cards)
    for (const LoanCard& told : {cards[0], card, card}) {
      boards.of(0).write_card(3, told);
      EXPECT_EQ(content_of(boards.of(1).card(0, 3)), content_of(told)) << &card - cards.data();
      EXPECT_EQ(boards.of(1).card(0, 4), LoanCard()) << "each tells of its own calls";
    }
}

TEST(LoanCards, ThatWereWithdrawnCountAgainOnceTheyAreWrittenAgain) {
  const BoardsInMemory boards(2, {.usual = {4096}});
  boards.of(0).write_card(3, card_of(100));
  EXPECT_FALSE(boards.of(1).is_card_withdrawn(0, 3));
  boards.of(0).withdraw_card(3);
  EXPECT_TRUE(boards.of(1).is_card_withdrawn(0, 3));
  boards.of(0).write_card(3, card_of(100));
  EXPECT_FALSE(boards.of(1).is_card_withdrawn(0, 3));
}

TEST(LoanCards, TellTheLongestTimeOfOneCallThatAllTellOf) {
  const BoardsInMemory boards(3, {.usual = {256, 4}});
  const auto tell = [&](std::uint32_t rank, std::uint32_t call, std::uint32_t took_ns) {
    boards.of(rank).write_card(2, {.timed_call = call, .took_ns = took_ns});
  };
  tell(0, 7, 100);
  tell(1, 7, 300);
  tell(2, 7, 200);
  for (std::uint32_t rank = 0; rank < 3; ++rank) EXPECT_EQ(boards.of(rank).longest_time(2), 300U);
  tell(1, 6, 300);
  for (std::uint32_t rank = 0; rank < 3; ++rank) EXPECT_EQ(boards.of(rank).longest_time(2), std::nullopt);
  for (std::uint32_t rank = 0; rank < 3; ++rank) tell(rank, 0, 1);
  EXPECT_EQ(boards.of(0).longest_time(2), std::nullopt) << "none tells of any";
}

}  // namespace
}  // namespace parley::collective
