#include "transport/socket/own_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/error.h>

#include <algorithm>
#include <cstdlib>

namespace parley::socket {
namespace {

using ::testing::HasSubstr;

class OwnAddress : public ::testing::Test {
 protected:
  OwnAddress() { forget(); }
  ~OwnAddress() override { forget(); }
  static void forget() {
    unsetenv("PARLEY_HOST");
    unsetenv("PARLEY_SOCKET_IFNAME");
  }
};

TEST_F(OwnAddress, IsByTheRouteUnlessOneIsChosen) {
  EXPECT_FALSE(knows_own_address());
  EXPECT_EQ(own_address("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(own_address("127.0.0.2"), "127.0.0.1");
  setenv("PARLEY_SOCKET_IFNAME", "127.0.0.0/8", 1);
  EXPECT_TRUE(knows_own_address());
  EXPECT_EQ(own_address(""), "127.0.0.1");
  setenv("PARLEY_HOST", "127.0.0.3", 1);
  EXPECT_EQ(own_address(""), "127.0.0.3") << "PARLEY_HOST wins";
}

TEST_F(OwnAddress, WhenNothingMatchesTheErrorListsTheInterfaces) {
  setenv("PARLEY_SOCKET_IFNAME", "=nosuchinterface", 1);
  try {
    static_cast<void>(own_address("127.0.0.1"));
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("PARLEY_SOCKET_IFNAME==nosuchinterface includes no address"));
    EXPECT_THAT(error.what(), HasSubstr("lo 127.0.0.1"));
  }
  setenv("PARLEY_SOCKET_IFNAME", "eth/8", 1);
  EXPECT_THROW(static_cast<void>(own_address("127.0.0.1")), UsageError);
}

TEST_F(OwnAddress, TheHostsAddressesAreRead) {
  const auto addresses = network_addresses();
  const auto loopback = std::find_if(addresses.begin(), addresses.end(),
                                     [](const auto& address) { return address.address == "127.0.0.1"; });
  ASSERT_NE(loopback, addresses.end());
  EXPECT_TRUE(loopback->loopback);
  EXPECT_TRUE(loopback->up);
  EXPECT_FALSE(loopback->interface.empty());
}

TEST_F(OwnAddress, AForeignScopeBecomesOurOwn) {
  EXPECT_EQ(with_own_scope("[fe80::2%enp3s0]:4711", "[fe80::1%eth0]:99"), "[fe80::2%eth0]:4711");
  EXPECT_EQ(with_own_scope("[fe80::2%enp3s0]:4711", "fe80::1%eth0"), "[fe80::2%eth0]:4711");
  EXPECT_EQ(with_own_scope("[fd00::2]:4711", "[fe80::1%eth0]:99"), "[fd00::2]:4711");
  EXPECT_EQ(with_own_scope("[fe80::2%eth1]:4711", "10.0.0.1:99"), "[fe80::2%eth1]:4711");
  EXPECT_EQ(with_own_scope("10.0.0.2:4711", "[fe80::1%eth0]:99"), "10.0.0.2:4711");
}

}  // namespace
}  // namespace parley::socket
