// By which of their addresses two hosts find each other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/multiprocess/hosts/node_pair.h"

namespace parley::testing {
namespace {

using launch::testing::count_of;
using ::testing::HasSubstr;
using ::testing::Not;

// Every rank's line about the address it listens on.
constexpr const char* linked = "is linked to all ranks, tcp ";

class Addresses : public ::testing::Test {
 protected:
  // Both launchers end well, and ranks of a listen on one address, ranks of b on the other.
  static void expect_runs_at(NodePair& pair, const std::string& of_a, const std::string& of_b) {
    const auto end = pair.finish();
    EXPECT_EQ(end.a, 0) << end.said;
    EXPECT_EQ(end.b, 0) << end.said;
    EXPECT_EQ(count_of(pair.a.errors(), linked + of_a), 2U) << end.said;
    EXPECT_EQ(count_of(pair.b.errors(), linked + of_b), 2U) << end.said;
    EXPECT_THAT(pair.b.output(), HasSubstr("Final value: 72.0"));
  }
  // Two cables; the rendezvous is on the first.
  void join_twice() const {
    hosts_.join("eth0", {"10.7.0.1/24"}, "eth0", {"10.7.0.2/24"});
    hosts_.join("eth1", {"10.8.0.1/24"}, "eth1", {"10.8.0.2/24"});
  }

  TwoHosts hosts_;
};

TEST_F(Addresses, AreByDefaultThoseOfTheRouteToTheStore) {
  join_twice();
  NodePair pair(hosts_, {chain_program},
                {.rendezvous = "10.8.0.1:29500", .variables = {{"PARLEY_DEBUG", "info"}}});
  expect_runs_at(pair, "10.8.0.1:", "10.8.0.2:");
}

TEST_F(Addresses, PARLEY_SOCKET_IFNAMEPicksOneOfTwoInterfaces) {
  join_twice();
  for (const char* choice : {"=eth1", "^eth0,lo", "10.8.0.0/16", "eth,^=eth0"}) {
    NodePair pair(hosts_, {chain_program},
                  {.variables = {{"PARLEY_DEBUG", "info"}, {"PARLEY_SOCKET_IFNAME", choice}}});
    expect_runs_at(pair, "10.8.0.1:", "10.8.0.2:");
  }
}

TEST_F(Addresses, AnInterfaceThatNobodyHasIsAnErrorThatListsAll) {
  join_twice();
  NodePair pair(hosts_, {chain_program}, {.variables = {{"PARLEY_SOCKET_IFNAME", "ib"}}});
  const auto end = pair.finish();
  EXPECT_NE(end.a, 0);
  EXPECT_EQ(end.a, end.b) << end.said;
  EXPECT_THAT(end.said,
              HasSubstr("PARLEY_SOCKET_IFNAME=ib includes no address of an interface that is up; this "
                        "host has lo 127.0.0.1 and ::1; eth0 10.7.0."));
}

TEST_F(Addresses, MayBeOfIPv6Alone) {
  hosts_.join("eth0", {"fd00::1/64"}, "eth0", {"fd00::2/64"});
  NodePair pair(hosts_, {chain_program},
                {.rendezvous = "[fd00::1]:29500", .variables = {{"PARLEY_DEBUG", "info"}}});
  expect_runs_at(pair, "[fd00::1]:", "[fd00::2]:");
}

TEST_F(Addresses, MayBeLinkLocalThoughTheInterfacesHaveOtherNames) {
  hosts_.join("eth0", {"fe80::1/64"}, "enp1", {"fe80::2/64"});
  NodePair pair(hosts_, {chain_program},
                {.rendezvous = "[fe80::1%eth0]:29500",
                 .rendezvous_of_b = "[fe80::1%enp1]:29500",
                 .variables = {{"PARLEY_DEBUG", "info"}}});
  expect_runs_at(pair, "[fe80::1%eth0]:", "[fe80::2%enp1]:");
}

TEST_F(Addresses, PortsAreOfTheRange) {
  join_twice();
  NodePair pair(hosts_, {chain_program},
                {.variables = {{"PARLEY_DEBUG", "info"}, {"PARLEY_PORT_RANGE", "31000-31002"}}});
  expect_runs_at(pair, "10.7.0.1:3100", "10.7.0.2:3100");
}

TEST_F(Addresses, ARangeThatIsTooSmallIsNamed) {
  join_twice();
  NodePair pair(hosts_, {chain_program},
                {.ranks_of_a = 3, .variables = {{"PARLEY_PORT_RANGE", "31000-31001"}}});
  const auto end = pair.finish();
  EXPECT_NE(end.a, 0);
  EXPECT_EQ(end.a, end.b) << end.said;
  EXPECT_THAT(pair.a.errors(), HasSubstr("all 2 ports of PARLEY_PORT_RANGE=31000-31001 are taken"));
}

TEST_F(Addresses, ALoopbackAddressAmongSeveralHostsIsNamedWithWhatToSet) {
  join_twice();
  NodePair pair(hosts_, {chain_program}, {.options_of_b = {"--env", "PARLEY_HOST=127.0.0.1"}});
  const auto end = pair.finish();
  EXPECT_NE(end.a, 0);
  EXPECT_EQ(end.a, end.b) << end.said;
  EXPECT_THAT(end.said, HasSubstr("rank 2 (host-b, pid "));
  EXPECT_THAT(end.said, HasSubstr("a loopback address that rank 0 on host-a cannot reach"));
  EXPECT_THAT(end.said, HasSubstr("PARLEY_SOCKET_IFNAME or PARLEY_HOST on host-b"));
}

TEST_F(Addresses, ARankThatNoRouteLeadsToIsNamedWithTheAddressThatWasTried) {
  hosts_.join("eth0", {"10.7.0.1/24"}, "eth0", {"10.7.0.2/24"});
  hosts_.a.ip({"addr", "add", "10.9.0.1/32", "dev", "lo"});
  NodePair pair(hosts_, {chain_program},
                {.ranks_of_a = 1,
                 .ranks_of_b = 1,
                 .variables = {{"PARLEY_HOST", "10.9.0.1"}, {"PARLEY_INIT_TIMEOUT", "3s"}},
                 .variables_of_b = {{"PARLEY_HOST", "10.7.0.2"}}});
  const auto end = pair.finish();
  EXPECT_NE(end.b, 0) << end.said;
  EXPECT_THAT(pair.b.errors(), HasSubstr("rank 0 (host-a, pid "));
  EXPECT_THAT(pair.b.errors(), HasSubstr("10.9.0.1:"));
  EXPECT_THAT(pair.b.errors(), HasSubstr("Network is unreachable (no route to that address), tried "));
  EXPECT_THAT(pair.b.errors(), HasSubstr("PARLEY_SOCKET_IFNAME or PARLEY_HOST"));
}

TEST_F(Addresses, PacketsThatAFirewallDropsAreToldFromARefusal) {
  hosts_.join("eth0", {"10.7.0.1/24"}, "eth0", {"10.7.0.2/24"});
  hosts_.a.ip({"route", "add", "blackhole", "10.7.0.2/32"});  // no answer of host-a leaves it
  NodePair pair(hosts_, {chain_program}, {.variables_of_b = {{"PARLEY_INIT_TIMEOUT", "2s"}}});
  EXPECT_EQ(pair.b.finish(), 1);
  EXPECT_THAT(pair.b.errors(), HasSubstr("waited in vain for node 0"));
  EXPECT_THAT(pair.b.errors(), HasSubstr("10.7.0.1:29500: no answer (a firewall?)"));
  EXPECT_THAT(pair.b.errors(), HasSubstr("Silent: that host is down"));
  EXPECT_THAT(pair.b.errors(), Not(HasSubstr("Refused")));
}

}  // namespace
}  // namespace parley::testing
