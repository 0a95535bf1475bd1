// The raw loops of collectives, between threads: what they bring is compared with what each operation shall
// bring. And what is pure about them: which there are, which is the limit, the sums.
#include "bench/limits/collective_loops.h"

#include <gtest/gtest.h>
#include <parley/testing.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/library_session.h"
#include "bench/limits/fold.h"
#include "bench/parley_library.h"
#include "tests/sanitizer.h"

namespace parley::bench {
namespace {

Options quick(Op op, bool rewrite) {
  Options options;
  options.op = op;
  options.transport = "shm";
  options.rewrite = rewrite;
  options.rounds = 2;
  options.round_ms = 0.01;
  return options;
}

std::size_t count_raw(const std::vector<Row>& rows) {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.system.starts_with("raw "); }));
}

// Sizes that one line holds, one stage, and several with a rest; no slice of the latter is like another.
void expect_nothing_wrong(Op op, int ranks, bool rewrite) {
  const Options options = quick(op, rewrite);
  testing::run_world(ranks, [&](ProcessGroup& group) {
    ParleyLibrary library(group, options);
    LibrarySession session(library, options, Idle::yield);
    for (const std::size_t bytes : std::array<std::size_t, 3>{8, 20'000, 100'012}) {
      const auto rows = session.measure(op == Op::barrier ? 0 : bytes);
      if (!rows) continue;
      EXPECT_GE(count_raw(*rows), op == Op::barrier ? 2U : 4U);
      for (const Row& row : *rows)
        EXPECT_EQ(row.wrong, 0U) << to_string(op) << ", " << ranks << " ranks, " << bytes << ": "
                                 << row.system;
    }
  });
}

TEST(CollectiveLoops, BringWhatEachCollectiveBrings) {
  for (const Operation& each : operations) {
    if (!is_collective(each.op)) continue;
    for (const int ranks : sanitizer::is_on ? std::vector{2} : std::vector{2, 3, 4})
      expect_nothing_wrong(each.op, ranks, false);
  }
}

// A loop that reads an older vector, or a stage that has been written anew, fails.
TEST(CollectiveLoops, SeeWhatWasWrittenLast) {
  for (const Operation& each : operations) {
    if (!is_collective(each.op) || each.op == Op::barrier) continue;
    expect_nothing_wrong(each.op, sanitizer::is_on ? 2 : 3, true);
  }
}

TEST(CollectiveLoops, StandBesideParleyInItsArena) {
  Options options = quick(Op::all_reduce, true);
  options.arena = true;
  testing::run_world(2, [&](ProcessGroup& group) {
    ParleyLibrary library(group, options);
    LibrarySession session(library, options, Idle::yield);
    const auto rows = session.measure(100'000);
    if (!rows) return;
    EXPECT_EQ(rows->front().system, parley_in_arena);
    EXPECT_EQ(rows->front().wrong, 0U);
    EXPECT_GE(count_raw(*rows), 4U);
  });
}

TEST(CollectiveLoops, AreNotThereOverTcp) {
  Options options = quick(Op::all_reduce, false);
  options.transport = "tcp";
  testing::run_world(2, [&](ProcessGroup& group) {
    ParleyLibrary library(group, options);
    LibrarySession session(library, options, Idle::yield);
    const auto rows = session.measure(64);
    if (rows) {
      EXPECT_EQ(rows->size(), 1U);
    }
  });
}

std::vector<std::string> names(Op op, std::size_t bytes, int ranks, bool cross_memory) {
  std::vector<std::string> all;
  for (const CollectiveLoop& loop : collective_loops_for(op, bytes, ranks, cross_memory))
    all.push_back(loop.name());
  return all;
}

using Names = std::vector<std::string>;

TEST(CollectiveLoops, SuitTheSize) {
  EXPECT_EQ(names(Op::all_reduce, 8, 2, true), (Names{"line", "staged-64K", "mapped"}));
  EXPECT_EQ(names(Op::all_reduce, 100'000, 2, true),
            (Names{"staged-64K", "staged-256K", "staged-slices-64K", "staged-slices-256K", "cross-memory",
                   "cross-memory-slices", "mapped", "mapped-slices"}));
  EXPECT_EQ(
      names(Op::all_reduce, 16 << 20, 2, false),
      (Names{"staged-slices-64K", "staged-slices-256K", "staged-slices-1M", "mapped", "mapped-slices"}));
  EXPECT_EQ(names(Op::barrier, 0, 4, true), (Names{"line"}));
  // What one rank gives to all does not fit a line.
  EXPECT_EQ(names(Op::all_to_all, 16, 4, true), (Names{"staged-64K", "mapped"}));
}

Row row(const std::string& system, double us, std::size_t wrong = 0) {
  Row made = make_row({Op::all_reduce, "shm", 2, 64}, system, {{us}, {}, {}}, 60);
  made.wrong = wrong;
  return made;
}

TEST(CollectiveLoops, BuffersAnywhereAreNotComparedWithTheArena) {
  std::vector<Row> rows{row("parley", 12),    row("parley-arena", 6), row("raw staged-64K", 10),
                        row("raw mapped", 4), row("raw line", 8),     row("raw cross-memory", 1, 3)};
  compare_with_best_loop(rows);
  EXPECT_DOUBLE_EQ(rows[0].ratio_to_limit.value(), 1.5);
  EXPECT_DOUBLE_EQ(rows[1].ratio_to_limit.value(), 1.5);
  EXPECT_DOUBLE_EQ(rows[2].limit_us.value(), 8);
  EXPECT_DOUBLE_EQ(rows[3].ratio_to_limit.value(), 1);
  std::vector<Row> alone{row("parley", 12)};
  compare_with_best_loop(alone);
  EXPECT_FALSE(alone[0].ratio_to_limit);
}

TEST(Fold, AddsAnyNumberOfVectorsOfAnyLength) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{16}, std::size_t{1000}, std::size_t{1003}}) {
    for (std::size_t vectors = 2; vectors <= 11; ++vectors) {
      std::vector<std::vector<float>> all(vectors, std::vector<float>(count));
      std::vector<const float*> from;
      for (std::size_t v = 0; v < vectors; ++v) {
        for (std::size_t i = 0; i < count; ++i) all[v][i] = static_cast<float>(i * 3 + (v << v));
        from.push_back(all[v].data());
      }
      std::vector<float> expected(count);
      for (const auto& vector : all)
        for (std::size_t i = 0; i < count; ++i) expected[i] += vector[i];
      std::vector<float> sums(count);
      fold(sums.data(), from, count);
      EXPECT_EQ(sums, expected) << vectors << " vectors of " << count;
    }
  }
}

}  // namespace
}  // namespace parley::bench
