// The log lines of init(), as a program's own sink gets them with PARLEY_DEBUG=info.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <cstddef>
#include <functional>
#include <string>

#include "tests/multiprocess/support/log_lines.h"
#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

// This process may have read its own level before it forks the ranks.
int run_verbose_ranks(int count, const std::function<void(int rank, int count)>& rank_main) {
  return run_ranks(count, rank_main,
                   {.environment = {{"PARLEY_DEBUG", "info"}, {"PARLEY_FULL_MESH_LIMIT", "32"}}});
}

TEST(Log, AWorldOfOneIsToldAtInfoLevel) {
  const int code = run_verbose_ranks(1, [](int, int) {
    forget_environment();
    const LogLines log;
    ProcessGroup world = init();
    const auto lines = log.with("a world of one");
    expect_equal(lines.size(), std::size_t{1}, "lines");
    expect(lines[0].level == LogLevel::info, "level");
    expect_contains(lines[0].subsystem, "init");
    for (const char* name : {"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"})
      expect_contains(lines[0].message, name);
  });
  EXPECT_EQ(code, 0);
}

TEST(Log, AWorldOfOneIsNotWorthAWarning) {
  const int code = run_verbose_ranks(1, [](int, int) {
    forget_environment();
    const LogLines log;
    init().barrier();
    destroy();
    for (const LogLine& line : log.with(""))
      expect(line.level > LogLevel::warn, "a warning: " + line.message);
  });
  EXPECT_EQ(code, 0);
}

TEST(Log, EveryRankSaysThatItIsLinked) {
  const int code = run_verbose_ranks(3, [](int rank, int) {
    const LogLines log;
    ProcessGroup world = init();
    const auto lines = log.with("is linked to all ranks");
    expect_equal(lines.size(), std::size_t{1}, "lines");
    expect_equal(lines[0].rank, rank, "rank");
    expect(lines[0].level == LogLevel::info, "level");
    expect_contains(lines[0].message, "rank " + std::to_string(rank) + " of 3 is linked");
    world.barrier();
  });
  EXPECT_EQ(code, 0);
}

// Nothing else has a reason to look at the settings of a world that works.
TEST(Log, InitComplainsAboutSettingsThatNobodyUnderstands) {
  const auto check = [](int, int) {
    const LogLines log;
    ProcessGroup world = init();
    expect_equal(log.with("PARLEY_DEBUG=bogus is not a level").size(), std::size_t{1}, "about the level");
    expect_equal(log.with("there is no subsystem 'sokcet'").size(), std::size_t{1}, "about the subsystem");
    world.barrier();
  };
  const int code =
      run_ranks(2, check, {.environment = {{"PARLEY_DEBUG", "bogus"}, {"PARLEY_DEBUG_SUBSYS", "sokcet"}}});
  EXPECT_EQ(code, 0);
}

// Without a sink and at the default level, a world that works writes nothing.
TEST(Log, NothingIsWrongWithAWorldThatWorks) {
  const int code = run_verbose_ranks(3, [](int rank, int count) {
    const LogLines log;
    ProcessGroup world = init();
    const int own = rank;
    int got = -1;
    world.sendrecv(std::span(&own, 1), (rank + 1) % count, std::span(&got, 1), any_source);
    world.barrier();
    destroy();
    for (const LogLine& line : log.with(""))
      expect(line.level > LogLevel::warn, "a warning: " + line.message);
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
