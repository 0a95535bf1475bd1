// The small things that algorithms are written with.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>

#include "api/schedule/blocks.h"
#include "api/schedule/catalogue.h"
#include "api/schedule/flat_parts.h"
#include "api/schedule/fold_extra.h"
#include "api/schedule/hosts.h"
#include "api/schedule/rounds.h"
#include "api/schedule/segments.h"
#include "api/schedule/shape.h"
#include "api/schedule/team.h"

namespace parley::schedule {
namespace {

TEST(Blocks, AreConsecutiveAndDifferByOneElementAtMost) {
  for (std::uint64_t count = 0; count < 20; ++count)
    for (std::uint32_t parts = 1; parts < 9; ++parts) {
      const Blocks blocks({Space::output, 5, count}, parts);
      std::uint64_t at = 5;
      for (std::uint32_t i = 0; i < parts; ++i) {
        EXPECT_EQ(blocks[i].begin, at);
        EXPECT_LE(blocks[i].count, count / parts + 1);
        EXPECT_GE(blocks[i].count, count / parts);
        at = blocks[i].end();
      }
      EXPECT_EQ(at, 5 + count);
    }
}

TEST(Blocks, TakeTheCountsThatTheyAreGiven) {
  const std::array<std::uint64_t, 3> counts{4, 0, 7};
  const Blocks blocks({Space::input, 2, 11}, counts);
  EXPECT_EQ(blocks[1], (Slice{Space::input, 6, 0}));
  EXPECT_EQ(blocks[2], (Slice{Space::input, 6, 7}));
  EXPECT_EQ(blocks.range(0, 3), (Slice{Space::input, 2, 11}));
  EXPECT_EQ(blocks.largest(), 7U);
}

TEST(FoldExtra, LeavesAPowerOfTwoWhoseNumbersCoverAllIndicesInOrder) {
  for (std::uint32_t size = 1; size <= 64; ++size)
    for (const std::uint32_t kept : {0U, 1U, size - 1}) {
      const FoldExtra fold(size, kept);
      std::uint32_t staying = 0;
      for (std::uint32_t index = 0; index < size; ++index) {
        if (fold.leaves(index)) {
          EXPECT_FALSE(fold.leaves(FoldExtra::partner(index)));
          continue;
        }
        EXPECT_EQ(fold.number(index), staying++);
        EXPECT_EQ(fold.member(fold.number(index)), index);
        EXPECT_LE(fold.first(fold.number(index)), index);
      }
      EXPECT_EQ(staying, fold.power());
      EXPECT_EQ(fold.first(fold.power()), size);
      EXPECT_FALSE(fold.leaves(kept)) << size;
    }
}

TEST(Rounds, AreTheLogarithmRoundedUp) {
  EXPECT_EQ(doubling_rounds(1), 0U);
  EXPECT_EQ(doubling_rounds(2), 1U);
  EXPECT_EQ(doubling_rounds(5), 3U);
  EXPECT_EQ(doubling_rounds(8), 3U);
  EXPECT_EQ(lowest_bit(12), 4U);
}

TEST(Shapes, InPlaceBuffersBeginTogetherButForOperationsWithALayoutOfTheirOwn) {
  for (const Operation operation : all_operations()) {
    bool begin_apart = false;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      const auto layout = in_place_layout(operation, {.rank = rank, .size = 3, .root = 1, .count = 5});
      begin_apart = begin_apart || layout.input_begin != layout.output_begin;
    }
    EXPECT_EQ(begin_apart, has_own_layout(operation)) << name(operation);
  }
}

TEST(Segments, CoverEverythingOnce) {
  for (const std::uint64_t segment : {0, 1, 3, 10, 11}) {
    std::uint64_t at = 0, number = 0;
    for_each_segment(10, segment, [&](std::uint64_t offset, std::uint64_t count) {
      EXPECT_EQ(offset, at);
      at += count;
      ++number;
    });
    EXPECT_EQ(at, 10U);
    EXPECT_EQ(number, segments_of(10, segment));
  }
}

// A last turn of a few elements would cost as much waiting as the others.
TEST(FlatParts, AreAlikeInAsFewTurnsAsThereIsRoomFor) {
  for (const Operation operation : {Operation::all_to_all, Operation::scatter, Operation::reduce_scatter})
    for (const std::uint32_t size : {2U, 3U, 4U, 6U, 8U})
      for (const std::uint64_t stage : {std::uint64_t{1} << 11, std::uint64_t{1} << 18})
        for (const std::uint64_t count : {stage / 3, stage - 1, stage, stage + 1, 4 * stage}) {
          const Shape shape{.size = size, .count = count, .stage_count = stage, .stage_turns = 2};
          const Schedule schedule = make(operation, Algorithm::flat, shape);
          std::uint64_t least = count, most = 0;
          for (const Step& step : schedule.steps) {
            if (step.kind != StepKind::copy || step.to.space != Space::stage) continue;
            least = std::min(least, step.to.count);
            most = std::max(most, step.to.count);
          }
          const std::uint64_t turns = segments_of(count, room_for_part(shape, size));
          constexpr std::uint64_t line = 64;  // elements; all turns but the last are rounded up to whole ones
          const std::string what = std::string(name(operation)) + " of " + std::to_string(count) + " of " +
                                   std::to_string(size) + " ranks";
          EXPECT_EQ(static_cast<std::uint64_t>(schedule.turns), turns) << what;
          EXPECT_LE(schedule.stage_count, stage) << what;
          EXPECT_GT(most, 0U) << what;
          EXPECT_LT(most - least, turns * line) << what;
        }
}

TEST(Team, CountsAroundTheRing) {
  const Team team = Team::all({.rank = 1, .size = 5}, 3);
  EXPECT_EQ(team.me(), 3U);
  EXPECT_EQ(team.rank(0), 3U);
  EXPECT_EQ(team.next(), 2U);
  EXPECT_EQ(team.next(2), 3U);
  EXPECT_EQ(team.previous(4), 2U);
}

TEST(Hosts, PutTheFirstRankAndItsHostFirst) {
  const std::array<std::uint32_t, 5> placed{9, 4, 9, 4, 4};
  const Hosts hosts({.rank = 1, .size = 5, .hosts = placed}, 3);
  EXPECT_EQ(hosts.size(), 2U);
  EXPECT_EQ(hosts.members(0), (std::vector<std::uint32_t>{3, 1, 4}));
  EXPECT_EQ(hosts.members(1), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(hosts.mine(), 0U);
  EXPECT_EQ(hosts.me(), 1U);
  EXPECT_EQ(hosts.across().rank(1), 2U);
  EXPECT_EQ(hosts.smallest(), 2U);
  EXPECT_EQ(hosts.largest(), 3U);
}

}  // namespace
}  // namespace parley::schedule
