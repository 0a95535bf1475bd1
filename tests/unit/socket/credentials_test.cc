#include <parley/error.h>
#include <parley/log.h>

#include "tests/unit/socket/exchange.h"
#include "tests/unit/socket/meeting.h"

// Secrets over real sockets; for builds with OpenSSL.
namespace parley::socket::testing {
namespace {

using CredentialsTest = Meeting;

const std::string wrong_secret = "Tr0ub4dor&3 and some more";

TEST_F(CredentialsTest, AnotherSecretIsRefusedWithBothKeyIds) {
  const auto listener = listen();
  auto socket = dial_now({"127.0.0.1", listener->port()}, from_1_to_2(), credentials_of(wrong_secret),
                         base::Deadline::never());
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ(socket.failure().status.code(), base::Code::refused);
  const auto& text = socket.failure().message;
  EXPECT_NE(text.find(to_hex(key_of(wrong_secret)->id())), std::string::npos) << text;
  EXPECT_NE(text.find(to_hex(key_of(right().secret)->id())), std::string::npos) << text;
  EXPECT_NE(text.find("give both the same PARLEY_SECRET"), std::string::npos) << text;
  EXPECT_TRUE(arrivals_.empty());
  expect_right_client_gets_in(*listener);
}

TEST_F(CredentialsTest, WithoutASecretNothingIsOpened) {
  EXPECT_THROW(Listener(*reactor_, process_2(), Credentials{}, collect()), SystemError);
  auto socket = dial_now({"127.0.0.1", 1}, from_1_to_2(), Credentials{}, base::Deadline::never());
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ(socket.failure().status.code(), base::Code::refused);
  EXPECT_NE(socket.failure().message.find("PARLEY_SECRET"), std::string::npos);
}

// Knows the key id, which is public, and nothing else.
TEST_F(CredentialsTest, AStrangerWithTheRightKeyIdStillNeedsTheProof) {
  const auto listener = listen();
  auto peer = RawPeer::connect_to(listener->port());
  peer.send(encode(Hello{.from = 1, .to = 2, .key_id = key_of(right().secret)->id(), .job = job_of(1)}));
  peer.send(ProofBytes{});
  ASSERT_TRUE(run_until(*reactor_, [&] { return peer.closed(); }));
  EXPECT_EQ(peer.received().size(), sizeof(ChallengeBytes) + sizeof(WelcomeBytes));
  EXPECT_TRUE(arrivals_.empty());
}

TEST_F(CredentialsTest, TheSecretAppearsInNoLineAndNoMessage) {
  std::vector<std::string> lines;
  set_log_level(LogLevel::debug);
  set_log_sink([&](const LogRecord& record) { lines.emplace_back(record.message); });
  {
    const auto listener = listen();
    expect_right_client_gets_in(*listener);
    const DialTarget target{"127.0.0.1", listener->port()};
    for (const auto& credentials : {credentials_of(wrong_secret), credentials_of(right().secret, 9)}) {
      auto socket = dial_now(target, from_1_to_2(), credentials);
      ASSERT_FALSE(socket.ok());
      lines.push_back(socket.failure().message);
    }
    // The listener's side of a refusal is logged as well.
    ASSERT_TRUE(run_until(*reactor_, [&] { return lines.size() >= 3; }));
  }
  set_log_sink({});
  set_log_level(LogLevel::warn);
  for (const auto& line : lines)
    for (const auto& secret : {wrong_secret, right().secret}) {
      EXPECT_EQ(line.find(secret), std::string::npos) << line;
      EXPECT_EQ(line.find(to_hex(std::as_bytes(std::span(secret)))), std::string::npos) << line;
    }
}

}  // namespace
}  // namespace parley::socket::testing
