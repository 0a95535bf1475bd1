#include "transport/socket/dial_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "tests/unit/socket/meeting.h"

namespace parley::socket::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

AddressReport refused() {
  return {.address = "10.0.0.1:99", .reason = "Connection refused", .error = ECONNREFUSED, .attempts = 21};
}
AddressReport silent() {
  return {
      .address = "[fd00::1]:99", .reason = "no answer", .error = ETIMEDOUT, .answered = false, .attempts = 1};
}
AddressReport stopped() {
  auto report = silent();
  report.connected = true;
  return report;
}

TEST(DialReport, ListsEveryAddressWithItsOutcome) {
  const std::vector<AddressReport> both{refused(), silent()};
  EXPECT_EQ(list_addresses(both, true),
            "10.0.0.1:99: Connection refused, tried 21 times; [fd00::1]:99: no answer");
  EXPECT_EQ(list_addresses({both.data(), 1}, false), "Connection refused, tried 21 times");
}

TEST(DialReport, AdviceTellsRefusedFromSilent) {
  EXPECT_THAT(advice_on(std::vector{refused()}), HasSubstr("Refused: that host is up, but no process"));
  EXPECT_THAT(advice_on(std::vector{refused()}), Not(HasSubstr("firewall")));
  EXPECT_THAT(advice_on(std::vector{refused()}), Not(HasSubstr("this host itself")));
  EXPECT_THAT(advice_on(std::vector{silent()}), HasSubstr("Silent: that host is down"));
  EXPECT_THAT(advice_on(std::vector{silent()}), Not(HasSubstr("Refused")));
  const std::string mixed = advice_on(std::vector{refused(), silent()});
  EXPECT_THAT(mixed, HasSubstr("Refused"));
  EXPECT_THAT(mixed, HasSubstr("Silent"));
}

TEST(DialReport, AdviceIsGivenWhereThereIsSome) {
  auto here = refused();
  here.loopback = true;
  EXPECT_THAT(advice_on(std::vector{here}), HasSubstr("a loopback address is this host itself"));
  EXPECT_THAT(advice_on(std::vector{here, refused()}), Not(HasSubstr("this host itself")));
  EXPECT_EQ(advice_on(std::vector{stopped()}), "");
  auto elsewhere = refused();
  elsewhere.error = ENETUNREACH;
  EXPECT_THAT(advice_on(std::vector{elsewhere}), HasSubstr("No route"));
  auto untried = silent();
  untried.attempts = 0;
  EXPECT_EQ(advice_on(std::vector{untried}), "");
}

using DialReportOf = Meeting;

TEST_F(DialReportOf, ARefusedDialSaysForHowLongAndHowOften) {
  const ReservedPort port;
  const auto socket = dial_now("127.0.0.1", port.number(), base::Deadline::after(200ms));
  ASSERT_FALSE(socket.ok());
  EXPECT_THAT(socket.failure().message, ::testing::MatchesRegex("cannot connect within [0-9.]+ s to .*"));
  EXPECT_THAT(socket.failure().message, HasSubstr("nothing listens there), tried "));
  EXPECT_THAT(socket.failure().message, HasSubstr(". Refused: that host is up"));
}

TEST_F(DialReportOf, ASilentDialAdvisesOnFirewalls) {
  ReservedPort port;
  port.listen(0);
  // A full backlog drops SYNs silently, as a firewall does.
  std::vector<RawPeer> fill;
  for (int i = 0; i < 4; ++i) fill.push_back(RawPeer::connect_to(port.number()));
  const auto socket = dial_now("127.0.0.1", port.number(), base::Deadline::after(500ms));
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ(socket.failure().status.code(), base::Code::unreachable);
  EXPECT_THAT(socket.failure().message, HasSubstr(". Silent: that host is down"));
}

TEST_F(DialReportOf, AStoppedProcessIsNoFirewall) {
  ReservedPort port;
  port.listen(8);
  const auto socket = dial_now("127.0.0.1", port.number(), base::Deadline::after(500ms));
  ASSERT_FALSE(socket.ok());
  EXPECT_THAT(socket.failure().message, HasSubstr("is that process stopped?"));
  EXPECT_THAT(socket.failure().message, Not(HasSubstr("Silent")));
}

}  // namespace
}  // namespace parley::socket::testing
