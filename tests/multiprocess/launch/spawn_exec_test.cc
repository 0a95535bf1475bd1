// parley::spawn() with {.exec = true}: what runs again, and what goes wrong on the way to the call.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/multiprocess/launch/command.h"

namespace parley::launch::testing {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> exec_probe(const std::string& action, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{PARLEY_EXEC_PROBE_PROGRAM, action};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(SpawnByExec, TheCallerMayHaveThreads) {
  Command command(exec_probe("with_thread"));
  EXPECT_EQ(command.finish(), 0) << command.errors();
  EXPECT_EQ(command.output(), "[3] sum 6\n");
}

TEST(SpawnByExec, TheCallerMayBeInAWorldThatGoesOn) {
  Command command(exec_probe("with_world"));
  EXPECT_EQ(command.finish(), 0) << command.errors();
  EXPECT_EQ(command.output(), "[2] sum 3\nreceived 1234\n");
}

TEST(SpawnByExec, TheProgramStartsAsTheCallerIs) {
  Command command(exec_probe("show_start", {"two words", "", "a 'quote' and \\"}));
  EXPECT_EQ(command.finish(), 0) << command.errors();
  EXPECT_EQ(command.output(), "[0] <" PARLEY_EXEC_PROBE_PROGRAM
                              ">\n"
                              "[0] <show_start>\n[0] <two words>\n[0] <>\n[0] <a 'quote' and \\>\n"
                              "[0] in /\n[0] with a value\n[0] order taken\n[0] spawned 1\n");
}

TEST(SpawnByExec, AProgramThatDoesNotComeToTheCallHasFailed) {
  for (const auto& [returned, result] : {std::pair{"0", 1}, std::pair{"7", 7}}) {
    Command command(exec_probe("returns_too_early", {returned}));
    EXPECT_EQ(command.finish(), result);
    EXPECT_THAT(command.errors(), HasSubstr("parley::spawn: rank "));
    EXPECT_THAT(command.errors(), HasSubstr(std::string("exited with code ") + returned +
                                            " before it came to its parley::spawn after 0."));
  }
  Command command(exec_probe("dies_too_early"));
  EXPECT_EQ(command.finish(), 137);
  EXPECT_THAT(command.errors(), HasSubstr("(SIGKILL) before it came to its parley::spawn after 0."));
}

TEST(SpawnByExec, EarlierCallsEndAsTheyDidInTheCaller) {
  Command command(exec_probe("several_calls"));
  EXPECT_EQ(command.finish(), 0) << command.errors();
  EXPECT_EQ(command.output(), "[0] rank: 0 7 refused refused failed\ncaller: 0 7 refused refused failed\n");
}

TEST(SpawnByExec, AnotherWayThanTheCallersIsAnError) {
  Command command(exec_probe("takes_another_way"));
  EXPECT_EQ(command.finish(), 1);
  EXPECT_THAT(command.errors(), HasSubstr("spawn: this call wants 3 processes, and this is one of 2: the "
                                          "program has come another way than its parent did"));
  EXPECT_THAT(command.errors(), HasSubstr("exited with code 1 before it came to its parley::spawn"));
}

TEST(SpawnByExec, AClosedDescriptorIsAnError) {
  Command command(exec_probe("closes_everything"));
  EXPECT_EQ(command.finish(), 1);
  EXPECT_THAT(command.errors(), HasSubstr("rank 0: spawn: the program has closed descriptor "));
}

TEST(SpawnByExec, AProgramMayClearItsEnvironment) {
  Command command(exec_probe("clears_environment"));
  EXPECT_EQ(command.finish(), 0) << command.errors();
  EXPECT_EQ(sorted_lines(command.output()), "[0] rank 0\n[1] rank 1\n");
}

TEST(SpawnByExec, AForkOnTheWayIsNotTheRank) {
  Command command(exec_probe("forks_on_the_way"));
  ASSERT_TRUE(command.await_errors("spawn: this process is not the one that was started for this call"));
  command.send_signal(SIGKILL);
  EXPECT_EQ(command.finish(), 137);
}

TEST(SpawnByExec, ARankMayForkRanksAndNotExecuteThem) {
  Command command(exec_probe("nests"));
  EXPECT_EQ(command.finish(), 1);
  EXPECT_EQ(sorted_lines(command.output()), "[0] [0] inner 0\n[0] [1] inner 1\n[0] forks returned 0\n");
  EXPECT_THAT(command.errors(), HasSubstr("a function that spawn runs cannot call it with {.exec = true}"));
}

TEST(SpawnByExec, AProgramThatARankBecomesIsOnItsOwn) {
  Command command(exec_probe("becomes_another"));
  EXPECT_EQ(command.finish(), 0) << command.errors();
  EXPECT_EQ(sorted_lines(command.output()),
            "[0] rank 0\n[0] rank 1\n[0] spawned 0\n[0] spawned 1\n"
            "[0] spawned 1\n");
}

TEST(SpawnByExec, OneCallAtATime) {
  Command command(exec_probe("calls_at_once"));
  EXPECT_EQ(command.finish(), 0) << command.errors();
  EXPECT_THAT(command.output(), HasSubstr("UsageError: spawn: another thread is in a call of it"));
}

TEST(SpawnByExec, WhatCannotBeExecutedIsARankThatFails) {
  Command command(exec_probe("too_large"));
  EXPECT_EQ(command.finish(), 126);
  EXPECT_THAT(command.errors(), HasSubstr("[0] cannot start " PARLEY_EXEC_PROBE_PROGRAM));
  EXPECT_THAT(command.errors(), HasSubstr("Argument list too long\n"));
}

TEST(SpawnByExec, AProgramWhoseFileWasDeletedStartsAgain) {
  std::string folder = ::testing::TempDir() + "/parley-exec-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string copy = folder + "/copy of exec_probe";
  std::filesystem::copy_file(PARLEY_EXEC_PROBE_PROGRAM, copy);
  Command command({copy, "deleted"});
  EXPECT_EQ(command.finish(), 0) << command.errors();
  EXPECT_EQ(sorted_lines(command.output()), "[0] rank 0\n[1] rank 1\n");
  EXPECT_FALSE(std::filesystem::exists(copy));
  std::filesystem::remove_all(folder);
}

TEST(SpawnByExec, SignalsAreTheCallersButForHandlers) {
  Command command(exec_probe("signals"));
  EXPECT_EQ(command.finish(), 0) << command.errors();
  EXPECT_EQ(command.output(),
            "[0] USR1 open default, USR2 blocked ignored\n"
            "caller: USR1 open handled, USR2 blocked ignored\n");
}

TEST(SpawnByExec, ARankInheritsNoDescriptorOfTheLibrary) {
  Command command(exec_probe("descriptors"));
  EXPECT_EQ(command.finish(), 0) << command.errors();
}

}  // namespace
}  // namespace parley::launch::testing
