#include "transport/socket/route.h"

#include <gtest/gtest.h>
#include <parley/error.h>

namespace parley::socket {
namespace {

TEST(Route, TowardsLoopbackIsLoopback) {
  EXPECT_EQ(address_towards("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(address_towards("::1"), "::1");
  const auto local = address_towards("localhost");
  EXPECT_TRUE(local == "127.0.0.1" || local == "::1") << local;
}

TEST(Route, ANameThatCannotBeResolvedIsNamed) {
  const std::string name(80, 'a');  // no label is that long, so no name server is asked
  try {
    static_cast<void>(address_towards(name));
    FAIL() << "resolved";
  } catch (const SystemError& error) {
    EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace parley::socket
