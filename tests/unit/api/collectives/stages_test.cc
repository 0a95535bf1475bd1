// Where on the boards of a host the turns of calls have their lines and stages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <utility>

#include "api/collective/commons.h"
#include "tests/unit/api/collectives/boards_in_memory.h"

namespace parley::collective {
namespace {

using testing::BoardsInMemory;

constexpr Commons::Stages stages{256, 4};
constexpr auto usual = StageSet::usual, ahead = StageSet::ahead;

TEST(Stages, SayAfterHowManyTurnsTheyServeAgain) {
  for (const auto& [count, turns] : {std::pair(2U, 2), std::pair(4U, 4), std::pair(16U, Commons::slots)}) {
    const BoardsInMemory boards(2, {.usual = {256, count}, .ahead = {128, 8}});
    const PlanCache::SharedRoom room = boards.of(0).room();
    EXPECT_EQ(room.usual.turns, turns);
    EXPECT_EQ(room.usual.bytes, 256U);
    EXPECT_EQ(room.ahead.turns, 8);
    EXPECT_EQ(room.ahead.bytes, 128U);
    EXPECT_EQ(room.line_turns, Commons::slots);
  }
}

TEST(Stages, OfTurnsAreApartAsLongAsTheyServe) {
  const BoardsInMemory boards(2, {stages});
  for (std::uint64_t turn = 1; turn < 40; ++turn) {
    const Commons& own = boards.of(1);
    const auto stage = [&](std::uint64_t of) { return own.stage(1, of, usual, 0); };
    EXPECT_EQ(own.line(1, turn), boards.of(0).line(1, turn)) << "all see the same memory";
    EXPECT_EQ(stage(turn), boards.of(0).stage(1, turn, usual, 0));
    for (std::uint64_t later = 1; later < Commons::slots; ++later)
      EXPECT_NE(own.line(1, turn), own.line(1, turn + later));
    EXPECT_EQ(own.line(1, turn), own.line(1, turn + Commons::slots));
    for (std::uint64_t later = 1; later < stages.count; ++later)
      EXPECT_GE(std::abs(stage(turn + later) - stage(turn)), static_cast<std::ptrdiff_t>(stages.bytes));
    EXPECT_EQ(stage(turn), stage(turn + stages.count));
    EXPECT_EQ(stage(turn), own.stage(1, turn, usual, stages.bytes)) << "there is but one place";
  }
}

// Whatever the calls of the turns use, no two of neighbouring turns meet, and each place is used.
void expect_places_in_turn(const Commons::Sets& sets, StageSet set) {
  const Commons::Stages& these = set == usual ? sets.usual : sets.ahead;
  const BoardsInMemory boards(2, sets);
  const Commons& own = boards.of(0);
  const std::byte* const begin = own.stage(0, 0, set, 0);
  for (std::size_t bytes = 1; bytes <= these.bytes; bytes *= 2) {
    const std::size_t places = these.count * (std::max(these.in_turn, bytes) / bytes);
    std::set<const std::byte*> seen;
    for (std::uint64_t turn = 0; turn < places; ++turn) {
      const std::byte* const place = own.stage(0, turn, set, bytes);
      EXPECT_EQ(boards.of(1).stage(0, turn, set, bytes) - boards.of(1).stage(0, 0, set, 0), place - begin);
      const auto at = static_cast<std::size_t>(place - begin);
      EXPECT_EQ(at / these.bytes, turn % these.count) << "in the stage of the turn";
      EXPECT_LE(at % these.bytes + bytes, std::max(these.in_turn, bytes)) << "all of it";
      EXPECT_TRUE(seen.insert(place).second);
      EXPECT_EQ(own.stage(0, turn + places, set, bytes), place);
    }
  }
}

TEST(Stages, AreUsedAllInTurn) {
  expect_places_in_turn({stages}, usual);
  expect_places_in_turn({stages, {64, 8}}, ahead);
}

TEST(Stages, AreUsedInPartInTurnWhereThatIsEnough) {
  const Commons::Stages in_part{.bytes = stages.bytes, .count = stages.count, .in_turn = stages.bytes / 4};
  expect_places_in_turn({in_part}, usual);
  expect_places_in_turn({stages, in_part}, ahead);
}

// So calls that use the one need not know what those before have used of the other.
TEST(Stages, OfBothSetsAreApart) {
  constexpr Commons::Sets sets{stages, {64, 8}};
  const BoardsInMemory boards(2, sets);
  const Commons& own = boards.of(0);
  const std::byte* const end = boards.memory(0) + Commons::board_bytes(sets);
  for (std::uint64_t turn = 0; turn < 8; ++turn)
    for (std::uint64_t other = 0; other < 8; ++other) {
      EXPECT_LE(own.stage(0, turn, usual, 0) + sets.usual.bytes, own.stage(0, other, ahead, 0));
      EXPECT_LE(own.stage(0, other, ahead, 0) + sets.ahead.bytes, end);
    }
}

}  // namespace
}  // namespace parley::collective
