// One job on two hosts: how it runs, and how it ends.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "tests/multiprocess/hosts/node_pair.h"

namespace parley::testing {
namespace {

using launch::testing::count_of;

using ::testing::HasSubstr;
using ::testing::Not;

class Hosts : public ::testing::Test {
 protected:
  Hosts() { hosts_.join("eth0", {"10.7.0.1/24"}, "eth0", {"10.7.0.2/24"}); }
  TwoHosts hosts_;
};

TEST_F(Hosts, TheChainRunsAcrossThem) {
  NodePair pair(hosts_, {chain_program}, {.ranks_of_b = 3});
  const auto end = pair.finish();
  EXPECT_EQ(end.a, 0) << end.said;
  EXPECT_EQ(end.b, 0) << end.said;
  EXPECT_THAT(pair.a.output(), HasSubstr("[0] [Rank 0] Starting chain with value: 42.0\n"));
  EXPECT_THAT(pair.b.output(), HasSubstr("[2] [Rank 2] Received: 52.0\n"));
  EXPECT_THAT(pair.b.output(), HasSubstr("[4] [Rank 4] Final value: 82.0"));
  EXPECT_EQ(pair.a.errors() + pair.b.errors(), "");
}

TEST_F(Hosts, RanksKnowTheirPlaceOnTheHostAndInTheJob) {
  NodePair pair(hosts_, {probe_program, "environment"}, {.ranks_of_a = 1, .ranks_of_b = 2});
  const auto end = pair.finish();
  EXPECT_EQ(end.a + end.b, 0) << end.said;
  for (const char* line : {"[0] RANK=0", "[0] WORLD_SIZE=3", "[0] LOCAL_RANK=0", "[0] LOCAL_WORLD_SIZE=1",
                           "[0] MASTER_ADDR=10.7.0.1", "[0] MASTER_PORT=29500"})
    EXPECT_THAT(pair.a.output(), HasSubstr(std::string(line) + '\n'));
  for (const char* line : {"[1] RANK=1", "[1] WORLD_SIZE=3", "[1] LOCAL_RANK=0", "[1] LOCAL_WORLD_SIZE=2",
                           "[2] RANK=2", "[2] LOCAL_RANK=1", "[2] MASTER_ADDR=10.7.0.1"})
    EXPECT_THAT(pair.b.output(), HasSubstr(std::string(line) + '\n'));
}

TEST_F(Hosts, TheRanksOfEachAreAGroup) {
  NodePair pair(hosts_, {PARLEY_HOST_GROUP_PROBE_PROGRAM}, {.ranks_of_b = 3});
  const auto end = pair.finish();
  EXPECT_EQ(end.a + end.b, 0) << end.said;
  for (const char* line : {"[0] host: 0 1\n", "[1] host: 0 1\n"})
    EXPECT_THAT(pair.a.output(), HasSubstr(line));
  for (const char* line : {"[2] host: 2 3 4\n", "[3] host: 2 3 4\n", "[4] host: 2 3 4\n"})
    EXPECT_THAT(pair.b.output(), HasSubstr(line));
}

TEST_F(Hosts, ARankThatDiesEndsTheJobOnBothAndIsNamedWithItsNode) {
  NodePair pair(hosts_, {probe_program, "signal", "9", "3"});
  const auto end = pair.finish();
  EXPECT_EQ(end.a, 137) << end.said;
  EXPECT_EQ(end.b, 137) << end.said;
  for (const std::string& errors : {pair.a.errors(), pair.b.errors()}) {
    EXPECT_THAT(errors, HasSubstr("parley-run: node 1 (host-b, pid "));
    EXPECT_THAT(errors, HasSubstr("rank 3 failed first: " + probe_program));
    EXPECT_THAT(errors, HasSubstr("died of signal 9 (SIGKILL)"));
  }
  EXPECT_THAT(pair.a.errors(), HasSubstr("ranks 0 and 1 died of signal 15 (SIGTERM), sent by parley-run"));
  EXPECT_THAT(pair.b.errors(), HasSubstr("the others: rank 2 died of signal 15 (SIGTERM)"));
}

TEST_F(Hosts, AnExitCodeIsThatOfBoth) {
  NodePair pair(hosts_, {probe_program, "exit", "7", "0"});
  const auto end = pair.finish();
  EXPECT_EQ(end.a, 7) << end.said;
  EXPECT_EQ(end.b, 7) << end.said;
  EXPECT_THAT(pair.b.errors(), HasSubstr("node 0 (host-a, pid "));
}

TEST_F(Hosts, ASignalToOneLauncherReachesTheRanksOfBoth) {
  NodePair pair(hosts_, {probe_program, "polite", "5"});
  ASSERT_TRUE(pair.a.await_output("ready", 2));
  ASSERT_TRUE(pair.b.await_output("ready", 2));
  pair.b.send_signal(SIGTERM);
  const auto end = pair.finish();
  EXPECT_EQ(end.a, 5) << end.said;
  EXPECT_EQ(end.b, 5) << end.said;
  EXPECT_EQ(count_of(end.said, "goodbye"), 4U) << end.said;
  EXPECT_THAT(pair.a.errors(), HasSubstr("node 1 (host-b, pid "));
}

TEST_F(Hosts, ATimeoutIsThatOfBoth) {
  NodePair pair(hosts_, {probe_program, "stay"}, {.options_of_b = {"--timeout", "300ms"}});
  const auto end = pair.finish();
  EXPECT_EQ(end.a, 124) << end.said;
  EXPECT_EQ(end.b, 124) << end.said;
  EXPECT_THAT(pair.a.errors(), HasSubstr("ranks 2 and 3 were still running"));
}

TEST_F(Hosts, AKilledLauncherOfNode0EndsTheOthers) {
  NodePair pair(hosts_, {probe_program, "stay"});
  ASSERT_TRUE(pair.a.await_output("ready", 2));
  ASSERT_TRUE(pair.b.await_output("ready", 2));
  pair.a.send_signal(SIGKILL);
  const auto end = pair.finish();
  EXPECT_EQ(end.a, 137) << end.said;
  EXPECT_EQ(end.b, 1) << end.said;
  EXPECT_THAT(pair.b.errors(), HasSubstr("node 0 (host-a, pid "));
  EXPECT_THAT(pair.b.errors(), HasSubstr("its launcher is gone"));
}

TEST_F(Hosts, AKilledLauncherOfAnotherNodeEndsTheOthers) {
  NodePair pair(hosts_, {probe_program, "stay"});
  ASSERT_TRUE(pair.a.await_output("ready", 2));
  ASSERT_TRUE(pair.b.await_output("ready", 2));
  pair.b.send_signal(SIGKILL);
  const auto end = pair.finish();
  EXPECT_EQ(end.a, 1) << end.said;
  EXPECT_THAT(pair.a.errors(), HasSubstr("node 1 (host-b, pid "));
  EXPECT_THAT(pair.a.errors(), HasSubstr("its launcher is gone: no sign of it for 10 s"));
}

TEST_F(Hosts, ACutCableEndsBothSides) {
  NodePair pair(hosts_, {probe_program, "stay"});
  ASSERT_TRUE(pair.a.await_output("ready", 2));
  ASSERT_TRUE(pair.b.await_output("ready", 2));
  hosts_.b.ip({"link", "set", "eth0", "down"});
  const auto end = pair.finish();
  EXPECT_EQ(end.a, 1) << end.said;
  EXPECT_EQ(end.b, 1) << end.said;
  EXPECT_THAT(pair.a.errors(), HasSubstr("node 1 (host-b, pid "));
  EXPECT_THAT(pair.b.errors(), HasSubstr("node 0 (host-a, pid "));
}

TEST_F(Hosts, AnotherSecretIsRefusedAndTheRightNodeWaitsOn) {
  NodePair pair(hosts_, {probe_program, "stay"},
                {.variables_of_b = {{"PARLEY_SECRET", "something else altogether"}}});
  EXPECT_EQ(pair.b.finish(), 1);
  EXPECT_THAT(pair.b.errors(), ::testing::AllOf(HasSubstr("their secrets differ"),
                                                HasSubstr("give both the same PARLEY_SECRET")));
  pair.a.send_signal(SIGTERM);
  EXPECT_EQ(pair.a.finish(), 143);
  EXPECT_THAT(pair.a.output(), Not(HasSubstr("ready"))) << "a rank began without the others";
}

}  // namespace
}  // namespace parley::testing
