#include <parley/error.h>
#include <parley/log.h>

#include <cstdio>
#include <cstdlib>

#include "tests/unit/socket/exchange.h"
#include "tests/unit/socket/meeting.h"

// PARLEY_AUTH=off: nothing is proved, and nobody who proves something takes part.
namespace parley::socket::testing {
namespace {

class AuthenticationOff : public Meeting {
 protected:
  static Credentials off(std::uint8_t job = 1) {
    Credentials credentials;
    credentials.job = job_of(job);
    credentials.authenticate = false;
    return credentials;
  }
  std::unique_ptr<Listener> listen_off(const std::string& host = "127.0.0.1") {
    ListenerOptions options = process_2();
    options.host = host;
    return std::make_unique<Listener>(*reactor_, options, off(), collect());
  }
  auto dial_with(const Credentials& credentials, std::uint16_t port) {
    return dial_now({"127.0.0.1", port}, from_1_to_2(), credentials, base::Deadline::never());
  }
  // Both sides' text of a dial that must be refused.
  std::string refused(const Credentials& credentials, Listener& listener) {
    auto socket = dial_with(credentials, listener.port());
    EXPECT_FALSE(socket.ok());
    if (socket.ok()) return {};
    EXPECT_EQ(socket.failure().status.code(), base::Code::refused);
    EXPECT_TRUE(arrivals_.empty());
    return socket.failure().message;
  }
};

TEST_F(AuthenticationOff, BothEndsOffMeetAndJobsAreStillKeptApart) {
  const auto listener = listen_off();
  EXPECT_TRUE(dial_with(off(), listener->port()).ok());
  ASSERT_EQ(arrivals_.size(), 1u);
  EXPECT_EQ(arrivals_[0].identity.from, 1u);
  EXPECT_FALSE(dial_with(off(9), listener->port()).ok());
  EXPECT_EQ(arrivals_.size(), 1u);
}

TEST_F(AuthenticationOff, OneEndOffIsRefusedByNameWhicheverItIs) {
  const auto with = listen();
  const auto without = listen_off();
  const auto key_id = to_hex(key_of(right().secret)->id());
  for (const auto& [text, off_at] :
       {std::pair(refused(off(), *with), "dialler"), std::pair(refused(right(), *without), "listener")}) {
    EXPECT_NE(text.find(std::string("(PARLEY_AUTH=off) at the ") + off_at), std::string::npos) << text;
    EXPECT_NE(text.find(key_id), std::string::npos) << text;
  }
  expect_right_client_gets_in(*with);
}

// Whoever claims not to authenticate must not get around a proof.
TEST_F(AuthenticationOff, ZerosAreNoProofForWhoAuthenticates) {
  auto off_key = JobKey::make(off());
  ASSERT_TRUE(off_key.ok());
  EXPECT_EQ(off_key.value()->prove("parley1 client", {}), Mac{});
  if (!proofs_available()) return;
  ListenerHandshake listener({Purpose::data, 2}, key_of("a secret"), nonce_of(2));
  auto hello = encode(Hello{.from = 1, .to = 2, .key_id = key_of("a secret")->id(), .job = job_of(1)});
  ASSERT_FALSE(listener.take_hello(hello));
  const auto refusal = listener.take_proof(ProofBytes{});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, Reason::wrong_proof);
}

TEST_F(AuthenticationOff, WildcardAddressesAreRefused) {
  // Without OpenSSL no address but loopback is bound at all.
  const char* why = proofs_available() ? "PARLEY_AUTH=off" : "no OpenSSL";
  for (const char* host : {"0.0.0.0", "::"}) {
    try {
      listen_off(host);
      FAIL() << host;
    } catch (const SystemError& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  }
}

// In a process of its own, for a process warns once.
[[noreturn]] void listen_twice() {
  Reactor reactor;
  std::vector<std::string> lines;
  set_log_sink([&](const LogRecord& record) {
    if (record.level == LogLevel::warn) lines.emplace_back(record.message);
  });
  Credentials credentials;
  credentials.authenticate = false;
  const auto nobody = [](Connection, const Identity&) {};
  const Listener first(reactor, {}, credentials, nobody);
  const Listener second(reactor, {}, credentials, nobody);
  set_log_sink({});
  const bool named = lines.size() == 1 && lines[0].find("PARLEY_AUTH=off") != std::string::npos &&
                     lines[0].find("127.0.0.1:" + std::to_string(first.port())) != std::string::npos;
  for (const auto& line : lines) std::fprintf(stderr, "%s\n", line.c_str());
  std::_Exit(named ? 0 : 1);
}

TEST(AuthenticationOffDeathTest, ListeningIsWarnedAboutOnceWithTheAddress) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(listen_twice(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace parley::socket::testing
