// What is pure about the limits: slots, which loops there are, the best of them, the floor.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/limits/cell.h"
#include "bench/limits/channel.h"
#include "bench/limits/figures.h"
#include "bench/limits/floor.h"
#include "bench/limits/slots.h"
#include "bench/probe.h"
#include "bench/sizes.h"
#include "tests/unit/bench/units.h"

namespace parley::bench {
namespace {

TEST(Slots, OneReusedSlotHoldsAWholeMessage) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, 16 * kib * kib}) {
    EXPECT_EQ(reused_slot(bytes).bytes, bytes);
    EXPECT_EQ(reused_slot(bytes).count, 1U);
  }
}

TEST(Slots, RotatingOnesFillTheirMemoryAndHaveACellEach) {
  for (const Op op : {Op::latency, Op::bandwidth, Op::bidirectional, Op::message_rate}) {
    for (const std::size_t bytes : parse_sizes("1:1G")) {
      const Slots slots = rotating_slots(op, bytes);
      EXPECT_EQ(slots.bytes * slots.count, rotation_bytes) << to_string(op) << ' ' << bytes;
      EXPECT_GE(slots.bytes, 8 * kib) << bytes;
      EXPECT_LE(slots.bytes, 256 * kib) << bytes;
      EXPECT_LE(slots.count, ring_cells) << bytes;
    }
  }
}

TEST(Slots, APingGoesInPiecesAndAWindowInWholeMessages) {
  EXPECT_EQ(rotating_slots(Op::bandwidth, 64 * kib).bytes, 64 * kib);
  EXPECT_EQ(rotating_slots(Op::bandwidth, 40 * kib).bytes, 64 * kib);
  EXPECT_EQ(rotating_slots(Op::bandwidth, 16 * kib * kib).bytes, 256 * kib);
  EXPECT_LT(rotating_slots(Op::latency, 256 * kib).bytes, 256 * kib);
}

using Kinds = std::vector<LoopKind>;

TEST(Loops, WhatFitsACellHasTheLoopOfOneCellAndTheRing) {
  EXPECT_EQ(loops_for(Op::latency, Cell::inline_bytes, true),
            (Kinds{LoopKind::cell, LoopKind::copied_reused, LoopKind::copied_rotating, LoopKind::cross_memory,
                   LoopKind::mapped}));
  EXPECT_EQ(
      loops_for(Op::latency, Cell::inline_bytes + 1, true),
      (Kinds{LoopKind::copied_reused, LoopKind::copied_rotating, LoopKind::cross_memory, LoopKind::mapped}));
  EXPECT_EQ(
      loops_for(Op::message_rate, 8, true),
      (Kinds{LoopKind::ring, LoopKind::ring_stream, LoopKind::copied_reused, LoopKind::copied_rotating}));
}

TEST(Loops, NobodyStreamsBothWaysWithoutAnAnswer) {
  EXPECT_EQ(loops_for(Op::bidirectional, 8, false),
            (Kinds{LoopKind::ring, LoopKind::copied_reused, LoopKind::copied_rotating, LoopKind::mapped}));
}

TEST(Loops, WhatTheKernelRefusesIsLeftOut) {
  EXPECT_EQ(loops_for(Op::bandwidth, kib, false), (Kinds{LoopKind::copied_reused, LoopKind::copied_rotating,
                                                         LoopKind::copied_past_caches, LoopKind::mapped}));
}

TEST(Loops, SmallMessagesStayInTheCaches) {
  EXPECT_EQ(loops_for(Op::latency, kib - 1, false),
            (Kinds{LoopKind::copied_reused, LoopKind::copied_rotating, LoopKind::mapped}));
}

TEST(Loops, EachHasANameOfItsOwn) {
  EXPECT_EQ(to_string(LoopKind::copied_rotating), "copied-rotating");
  EXPECT_EQ(placement_of(LoopKind::mapped), Placement::arena);
  EXPECT_EQ(placement_of(LoopKind::cross_memory), Placement::anywhere);
}

LoopRow loop(LoopKind kind, double us, Op op = Op::latency) {
  const Subject subject{op, "shm", 2, 64 * kib};
  return {.kind = kind, .row = make_row(subject, "raw " + std::string(to_string(kind)), {{us}, {}, {}}, 60)};
}

TEST(BestLoop, BuffersAnywhereCannotUseTheArena) {
  std::vector<LoopRow> loops{loop(LoopKind::copied_reused, 12), loop(LoopKind::cross_memory, 8),
                             loop(LoopKind::mapped, 2)};
  EXPECT_EQ(best_loop(loops, Placement::anywhere), 1U);
  EXPECT_EQ(best_loop(loops, Placement::arena), 2U);
  judge(loops);
  EXPECT_TRUE(loops[1].best_anywhere);
  EXPECT_FALSE(loops[1].best_arena);
  EXPECT_TRUE(loops[2].best_arena);
  EXPECT_FALSE(loops[0].best_anywhere);
  EXPECT_EQ(loops[0].row.limit_us, 8);
  EXPECT_EQ(loops[0].row.ratio_to_limit, 1.5);
  EXPECT_EQ(loops[1].row.ratio_to_limit, 1);
  EXPECT_EQ(loops[2].row.ratio_to_limit, 1);
}

TEST(BestLoop, OneMayServeBothPlacements) {
  std::vector<LoopRow> loops{loop(LoopKind::cell, 1), loop(LoopKind::mapped, 4)};
  judge(loops);
  EXPECT_TRUE(loops[0].best_anywhere);
  EXPECT_TRUE(loops[0].best_arena);
  EXPECT_EQ(loops[1].row.limit_us, 1);
  EXPECT_EQ(loops[1].row.ratio_to_limit, 4);
}

TEST(BestLoop, TheHighestRateIsTheBest) {
  for (const Op op : {Op::bandwidth, Op::message_rate}) {
    std::vector<LoopRow> loops{loop(LoopKind::copied_reused, 8, op), loop(LoopKind::copied_rotating, 2, op)};
    judge(loops);
    EXPECT_TRUE(loops[1].best_anywhere);
    EXPECT_EQ(loops[0].row.ratio_to_limit, 0.25);
    EXPECT_EQ(loops[0].row.limit_mb_per_s, loops[1].row.mb_per_s);
  }
}

TEST(LimitLines, NameTheLoopTheModeAndTheBest) {
  LimitFigures figures{{loop(LoopKind::copied_reused, 12), loop(LoopKind::cross_memory, 8)}, Mode::far};
  judge(figures.loops);
  const std::string text = limits_lines(figures);
  const std::string second = text.substr(text.find('\n') + 1);
  EXPECT_EQ(text.substr(0, 22), "64K     copied-reused ");
  EXPECT_NE(second.find("cross-memory"), std::string::npos);
  EXPECT_NE(second.find(" far     best\n"), std::string::npos) << text;
  EXPECT_EQ(text.find('#'), std::string::npos) << text;
}

TEST(Limits, TheLibraryIsComparedAndNeverTheBest) {
  std::vector<LoopRow> rows{loop(LoopKind::parley, 1), loop(LoopKind::cell, 2), loop(LoopKind::mapped, 1.5)};
  judge(rows);
  EXPECT_FALSE(rows[0].best_anywhere || rows[0].best_arena);
  EXPECT_TRUE(rows[1].best_anywhere);
  EXPECT_EQ(rows[0].row.ratio_to_limit, 0.5);
}

TEST(Limits, TheLibraryInItsArenaIsComparedWithTheBestOfAll) {
  std::vector<LoopRow> rows{loop(LoopKind::parley_arena, 1), loop(LoopKind::cell, 2),
                            loop(LoopKind::mapped, 1.5)};
  judge(rows);
  EXPECT_FALSE(rows[0].best_anywhere || rows[0].best_arena);
  EXPECT_TRUE(rows[2].best_arena);
  EXPECT_EQ(rows[0].row.ratio_to_limit, 1 / 1.5);
}

TEST(LimitLines, AVoidRunIsSaidInWords) {
  LimitFigures figures{{loop(LoopKind::cell, 1)}, Mode::near};
  judge(figures.loops);
  figures.loops[0].row.void_reason = void_reason(1234, 40);
  EXPECT_NE(
      limits_lines(figures).find("\n# VOID: a flag took 1234 ns between the two cores, more than 1000; "),
      std::string::npos);
}

TEST(LimitLines, DisturbedAndLeftOutRoundsAreSaidInWords) {
  LimitFigures figures{{loop(LoopKind::copied_reused, 1), loop(LoopKind::cross_memory, 1)}, Mode::near};
  judge(figures.loops);
  for (LoopRow& each : figures.loops) each.row.rounds_left_out = 2;
  EXPECT_NE(limits_lines(figures).find("# 2 of 3 rounds left out"), std::string::npos);
  figures.loops[1].row.core_share = 0.5;
  EXPECT_NE(limits_lines(figures).find("# DISTURBED: a rank had its core for as little as 50 %"),
            std::string::npos);
}

TEST(Floor, ASlowFlagOrASlowCopyMakesARunVoid) {
  EXPECT_FALSE(void_reason(60, 40));
  EXPECT_FALSE(void_reason(1000, 5));
  EXPECT_EQ(void_reason(1001, 40), "a flag took 1001 ns between the two cores, more than 1000");
  EXPECT_EQ(void_reason(60, 4.9), "a plain memcpy of 64 KiB ran at 4.9 GB/s, less than 5");
}

TEST(Floor, TheCopyIsMeasured) {
  EXPECT_GT(measure_memcpy_gb_per_s(), 0);
}

TEST(Mode, NineOfTenProbesDecide) {
  EXPECT_EQ(mode_of(std::vector<double>{11, 12}), Mode::sibling);
  EXPECT_EQ(mode_of(std::vector<double>{60, 90}), Mode::near);
  EXPECT_EQ(mode_of(std::vector<double>{220, 250}), Mode::far);
  EXPECT_EQ(mode_of(std::vector<double>{60, 220}), Mode::mixed);
  std::vector<double> probes(9, 60);
  probes.push_back(220);
  EXPECT_EQ(mode_of(probes), Mode::near);
  probes.push_back(220);
  EXPECT_EQ(mode_of(probes), Mode::mixed);
}

}  // namespace
}  // namespace parley::bench
