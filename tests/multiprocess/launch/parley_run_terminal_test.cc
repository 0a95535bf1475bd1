// parley-run at a terminal.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/multiprocess/launch/command.h"
#include "tests/multiprocess/launch/parley_run.h"

namespace parley::launch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* interrupt_key = "\x03";

TEST(ParleyRunTerminal, ColoursThePrefixByRank) {
  Command command(run_probe(2, {"write", "x\n"}), {.environment = {{"NO_COLOR", ""}}, .terminal = true});
  EXPECT_EQ(command.finish(), 0);
  EXPECT_THAT(command.output(), HasSubstr("\x1b[36m[0]\x1b[0m x\r\n"));
  EXPECT_THAT(command.output(), HasSubstr("\x1b[33m[1]\x1b[0m x\r\n"));
}

TEST(ParleyRunTerminal, HonoursNoColor) {
  Command command(run_probe(2, {"write", "x\n"}), {.environment = {{"NO_COLOR", "1"}}, .terminal = true});
  EXPECT_EQ(command.finish(), 0);
  EXPECT_THAT(command.output(), Not(HasSubstr("\x1b")));
  EXPECT_THAT(command.output(), HasSubstr("[0] x\r\n"));
}

TEST(ParleyRunTerminal, Rank0ReadsFromIt) {
  Command command(run_probe(2, {"cat"}), {.environment = {{"NO_COLOR", "1"}}, .terminal = true});
  ASSERT_TRUE(command.await_output("[1] end of input"));
  command.type("typed\n");
  ASSERT_TRUE(command.await_output("[0] typed"));
  command.type("\x04");  // end of file
  EXPECT_EQ(command.finish(), 0);
  EXPECT_THAT(command.output(), HasSubstr("[0] end of input"));
}

TEST(ParleyRunTerminal, TheInterruptKeyReachesEveryRank) {
  Command command(run_probe(3, {"family"}), {.terminal = true});
  ASSERT_TRUE(command.await_output("ready", 3));
  command.type(interrupt_key);
  EXPECT_EQ(command.finish(), 130);
  EXPECT_THAT(command.output(), HasSubstr("SIGINT arrived after"));
  EXPECT_TRUE(all_end(numbers_after(command.output(), "pid=")));
}

TEST(ParleyRunTerminal, TheSecondInterruptKeyKills) {
  Command command(run_probe(2, {"stay", "deaf"}), {.terminal = true});
  ASSERT_TRUE(command.await_output("ready", 2));
  command.type(interrupt_key);
  ASSERT_TRUE(command.await_output("^C"));
  ASSERT_TRUE(signal_is_taken(command.pid(), 2));
  command.type(interrupt_key);
  EXPECT_EQ(command.finish(), 130);
  EXPECT_TRUE(all_end(numbers_after(command.output(), "pid=")));
}

}  // namespace
}  // namespace parley::launch::testing
