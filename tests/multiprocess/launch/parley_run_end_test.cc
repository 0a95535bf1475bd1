// How a job ends from outside: signals to parley-run, and its death.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/multiprocess/launch/command.h"
#include "tests/multiprocess/launch/parley_run.h"

namespace parley::launch::testing {
namespace {

using ::testing::HasSubstr;

TEST(ParleyRunSignals, SigtermIsPassedOnToTheRanks) {
  Command command(run_probe(3, {"polite", "0"}));
  ASSERT_TRUE(command.await_output("ready", 3));
  command.send_signal(SIGTERM);
  EXPECT_EQ(command.finish(), 0);  // all of them left in good order
  EXPECT_EQ(count_of(command.output(), "goodbye\n"), 3U);
  EXPECT_THAT(command.errors(), HasSubstr("SIGTERM arrived after"));
}

TEST(ParleyRunSignals, TheRanksOwnCodeCounts) {
  Command command(run_probe(2, {"polite", "7"}));
  ASSERT_TRUE(command.await_output("ready", 2));
  command.send_signal(SIGTERM);
  EXPECT_EQ(command.finish(), 7);
}

TEST(ParleyRunSignals, ElseTheCodeIs128PlusTheSignal) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    Command command(run_probe(2, {"stay"}));
    ASSERT_TRUE(command.await_output("ready", 2));
    command.send_signal(number);
    EXPECT_EQ(command.finish(), 128 + number);
    EXPECT_TRUE(all_end(numbers_after(command.output(), "pid=")));
  }
}

TEST(ParleyRunSignals, ASecondInterruptKillsAtOnce) {
  Command command(run_probe(2, {"stay", "deaf"}));
  ASSERT_TRUE(command.await_output("ready", 2));
  command.send_signal(SIGINT);
  // Two signals that are pending together count as one: let the first be taken.
  ASSERT_TRUE(signal_is_taken(command.pid(), SIGINT));
  command.send_signal(SIGINT);
  EXPECT_EQ(command.finish(), 130);
  EXPECT_THAT(command.errors(), HasSubstr("ranks 0 and 1 died of signal 9 (SIGKILL), sent by parley-run"));
}

TEST(ParleyRunSignals, TheRanksOwnChildrenEndToo) {
  Command command(run_probe(2, {"family"}));
  ASSERT_TRUE(command.await_output("ready", 2));
  command.send_signal(SIGTERM);
  EXPECT_EQ(command.finish(), 143);
  const std::vector<pid_t> children = numbers_after(command.output(), "child=");
  EXPECT_EQ(children.size(), 2U);
  EXPECT_TRUE(all_end(children));
}

TEST(ParleyRunSignals, ChildrenThatARankLeavesBehindEndWithTheJob) {
  Command command({run_program, "-n", "2", "--", "sh", "-c", "sleep 1000 & echo child=$!"});
  EXPECT_EQ(command.finish(), 0);
  const std::vector<pid_t> children = numbers_after(command.output(), "child=");
  EXPECT_EQ(children.size(), 2U);
  EXPECT_TRUE(all_end(children));
}

// kill -9 of the launcher: neither ranks nor their children survive it.
TEST(ParleyRunDeath, LeavesNoOrphan) {
  for (int round = 0; round < 20; ++round) {
    Command command(run_probe(4, {"family"}));
    ASSERT_TRUE(command.await_output("ready", 4));
    std::vector<pid_t> pids = numbers_after(command.output(), "pid=");
    const std::vector<pid_t> children = numbers_after(command.output(), "child=");
    pids.insert(pids.end(), children.begin(), children.end());
    ASSERT_EQ(pids.size(), 8U);
    command.send_signal(SIGKILL);
    EXPECT_EQ(command.finish(), 128 + SIGKILL);
    ASSERT_TRUE(all_end(pids)) << "round " << round;
  }
}

TEST(ParleyRunDeath, EvenOfRanksThatIgnoreSignals) {
  Command command(run_probe(2, {"stay", "deaf"}));
  ASSERT_TRUE(command.await_output("ready", 2));
  command.send_signal(SIGKILL);
  EXPECT_EQ(command.finish(), 128 + SIGKILL);
  EXPECT_TRUE(all_end(numbers_after(command.output(), "pid=")));
}

}  // namespace
}  // namespace parley::launch::testing
