#include "transport/socket/bind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/error.h>

#include <asio/io_context.hpp>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "transport/socket/port_range.h"

namespace parley::socket {
namespace {

using ::testing::HasSubstr;

TEST(PortRange, IsTwoPortsWithADash) {
  const auto range = parse_port_range("5000-5099");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 5000);
  EXPECT_EQ(range->last, 5099);
  EXPECT_EQ(range->count(), 100U);
  EXPECT_EQ(parse_port_range("7-7").value_or(PortRange{}).count(), 1U);
  EXPECT_EQ(parse_port_range("1-65535").value_or(PortRange{}).count(), 65535U);
  for (const char* text : {"", "-", "5000", "5000-", "-5000", "0-10", "5001-5000", "1-65536", "a-b", "1-2-3",
                           " 1-2", "1-2 ", "+1-2", "1--2"})
    EXPECT_FALSE(parse_port_range(text)) << text;
}

TEST(PortRange, AllPortsAreTriedWhereverOneBegins) {
  const PortRange range{5000, 5004};
  EXPECT_EQ(ports_from(range, 3), (std::vector<std::uint16_t>{5003, 5004, 5000, 5001, 5002}));
  EXPECT_EQ(ports_from(range, 4'294'967'295U).size(), 5U);
  EXPECT_EQ(ports_from({65534, 65535}, 1), (std::vector<std::uint16_t>{65535, 65534}));
}

class BindInRange : public ::testing::Test {
 protected:
  ~BindInRange() override { unsetenv("PARLEY_PORT_RANGE"); }

  asio::ip::tcp::acceptor listen(std::uint16_t port = 0) {
    return bind_and_listen(context_, "127.0.0.1", port);
  }
  std::string failure(std::uint16_t port = 0) {
    try {
      listen(port);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  // Sets the range to `count` ports that are free now.
  PortRange find_range(std::uint16_t count) {
    unsetenv("PARLEY_PORT_RANGE");
    for (;;) {
      const std::uint16_t first = listen().local_endpoint().port();
      if (first > 65535 - count) continue;
      try {
        std::vector<asio::ip::tcp::acceptor> held;
        for (std::uint16_t i = 0; i < count; ++i)
          held.push_back(listen(static_cast<std::uint16_t>(first + i)));
      } catch (const SystemError&) {
        continue;
      }
      const PortRange range{first, static_cast<std::uint16_t>(first + count - 1)};
      setenv("PARLEY_PORT_RANGE", (std::to_string(range.first) + "-" + std::to_string(range.last)).c_str(),
             1);
      return range;
    }
  }

  asio::io_context context_;
};

TEST_F(BindInRange, EveryPortIsUsedAndThenTheErrorNamesTheRange) {
  const PortRange range = find_range(6);
  std::vector<asio::ip::tcp::acceptor> held;
  std::set<std::uint16_t> ports;
  for (int i = 0; i < 6; ++i) {
    held.push_back(listen());
    ports.insert(held.back().local_endpoint().port());
  }
  EXPECT_EQ(ports.size(), 6U);
  EXPECT_EQ(*ports.begin(), range.first);
  EXPECT_EQ(*ports.rbegin(), range.last);
  EXPECT_THAT(failure(), HasSubstr("all 6 ports of PARLEY_PORT_RANGE=" + std::to_string(range.first) + "-" +
                                   std::to_string(range.last) + " are taken"));
  held.erase(held.begin() + 2);
  EXPECT_EQ(failure(), "no error") << "the port that became free is found";
}

TEST_F(BindInRange, TheFirstPortIsNotAlwaysTheSame) {
  find_range(32);
  std::set<std::uint16_t> ports;
  for (int i = 0; i < 24; ++i) ports.insert(listen().local_endpoint().port());
  EXPECT_GT(ports.size(), 1U);
}

TEST_F(BindInRange, APortThatIsAskedForNeedNotBeInTheRange) {
  const std::uint16_t outside = listen().local_endpoint().port();
  setenv("PARLEY_PORT_RANGE", outside == 65535 ? "1-2" : "65535-65535", 1);
  EXPECT_EQ(listen(outside).local_endpoint().port(), outside);
}

TEST_F(BindInRange, AMalformedRangeIsAUsageError) {
  setenv("PARLEY_PORT_RANGE", "5099-5000", 1);
  EXPECT_THROW(listen(), UsageError);
  EXPECT_THAT(failure(), HasSubstr("PARLEY_PORT_RANGE=5099-5000 is no range of ports"));
}

TEST_F(BindInRange, AnAddressOfAnotherHostIsNotTriedPortByPort) {
  find_range(4);
  try {
    static_cast<void>(bind_and_listen(context_, "192.0.2.99", 0));
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("are taken")));
  }
}

}  // namespace
}  // namespace parley::socket
