// parley::spawn(), called by a program of its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/multiprocess/launch/command.h"

namespace parley::launch::testing {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> probe(const std::string& action, const std::string& way = "fork") {
  return {PARLEY_SPAWN_PROBE_PROGRAM, action, way};
}

// What holds whether the ranks are forks or programs that are executed again.
class Spawn : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static std::vector<std::string> probe(const std::string& action) {
    return testing::probe(action, GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, Spawn, ::testing::Values("fork", "exec"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_P(Spawn, CallsTheFunctionOncePerRankWithItsEnvironment) {
  Command command(probe("environment"));
  EXPECT_EQ(command.finish(), 0) << command.errors();
  EXPECT_EQ(sorted_lines(command.output()), "[0] rank 0 of 3\n[1] rank 1 of 3\n[2] rank 2 of 3\n");
}

TEST_P(Spawn, AnExceptionIsPrintedAndEndsTheJobWith1) {
  Command command(probe("failure"));
  EXPECT_EQ(command.finish(), 1);
  EXPECT_THAT(command.errors(), HasSubstr("[2] rank 2: no luck\n"));
  EXPECT_THAT(command.errors(), HasSubstr("parley::spawn: rank 2 failed first: spawn_probe (pid "));
  EXPECT_THAT(command.errors(),
              HasSubstr("ranks 0 and 1 died of signal 15 (SIGTERM), sent by parley::spawn"));
}

TEST_P(Spawn, AnythingCanBeThrown) {
  Command command(probe("strange_failure"));
  EXPECT_EQ(command.finish(), 1);
  EXPECT_THAT(command.errors(), HasSubstr("[0] rank 0: an exception that is no std::exception\n"));
}

TEST_P(Spawn, ASignalIs128PlusItsNumber) {
  Command command(probe("killed"));
  EXPECT_EQ(command.finish(), 137);
  EXPECT_THAT(command.errors(), HasSubstr("rank 1 failed first"));
}

TEST_P(Spawn, TheTimeoutIs124) {
  Command command(probe("late"));
  EXPECT_EQ(command.finish(), 124);
}

TEST(SpawnByFork, NeitherLosesNorRepeatsBufferedOutput) {
  Command command(probe("buffered"));
  EXPECT_EQ(command.finish(), 0);
  EXPECT_EQ(count_of(command.output(), "before "), 1U) << command.output();
  EXPECT_EQ(count_of(command.output(), "the fork "), 1U) << command.output();
  EXPECT_EQ(count_of(command.output(), "x"), 2U);
  EXPECT_EQ(count_of(command.output(), "y"), 2U);
}

TEST_P(Spawn, TheRanksDieWithTheirParent) {
  for (int round = 0; round < 10; ++round) {
    Command command(probe("family"));
    ASSERT_TRUE(command.await_output("pid=", 3));
    command.send_signal(SIGKILL);
    EXPECT_EQ(command.finish(), 137);
    const std::vector<pid_t> pids = numbers_after(command.output(), "pid=");
    ASSERT_EQ(pids.size(), 3U);
    ASSERT_TRUE(all_end(pids)) << "round " << round;
  }
}

TEST_P(Spawn, TheRanksFormAWorld) {
  Command command(probe("world"));
  EXPECT_EQ(command.finish(), 0) << command.errors();
  EXPECT_EQ(command.output(), "[3] sum 6\n");
}

TEST_P(Spawn, CanBeCalledAgain) {
  Command command(probe("twice"));
  EXPECT_EQ(command.finish(), 0) << command.errors();
  EXPECT_EQ(sorted_lines(command.output()), "[0] rank 0\n[0] rank 0\n[1] rank 1\n[1] rank 1\n");
}

TEST(SpawnUsage, MistakesAreUsageErrors) {
  const std::map<std::string, std::string> mistakes{
      {"no_ranks", "must be at least 1, not 0"},         {"no_function", "the function is empty"},
      {"threads", "this process has 2 threads"},         {"initialised", "in a world already"},
      {"own_variable", "the launcher itself sets RANK"}, {"ignored_children", "ignores SIGCHLD"}};
  for (const auto& [action, text] : mistakes) {
    Command command(probe(action));
    EXPECT_EQ(command.finish(), 0) << action << ": " << command.errors();
    EXPECT_THAT(command.output(), HasSubstr(text));
  }
}

TEST(SpawnUsage, WhatAForkCannotDoExecCan) {
  for (const char* const action : {"threads", "initialised"}) {
    Command command(probe(action));
    EXPECT_EQ(command.finish(), 0) << command.errors();
    EXPECT_THAT(command.output(), HasSubstr("{.exec = true}"));
  }
}

TEST(SpawnUsage, MistakesAreMistakesWithExecToo) {
  for (const char* const action : {"no_ranks", "no_function", "own_variable", "ignored_children"}) {
    Command command(probe(action, "exec"));
    EXPECT_EQ(command.finish(), 0) << action << ": " << command.errors();
    EXPECT_EQ(count_of(command.output(), "UsageError: "), 1U) << command.output();
  }
}

}  // namespace
}  // namespace parley::launch::testing
