#include <parley/log.h>

#include <algorithm>
#include <random>

#include "tests/unit/socket/exchange.h"
#include "tests/unit/socket/meeting.h"
#include "tests/unit/socket/no_descriptors.h"

// What those who do not belong to the job can do to a listener.
namespace parley::socket::testing {
namespace {

using namespace std::chrono_literals;

using Strangers = Meeting;

std::string noise(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(bytes, '\0');
  std::generate(text.begin(), text.end(), [&] { return static_cast<char>(random()); });
  return text;
}

const std::string tls_hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
const std::string http = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

TEST_F(Strangers, NoiseOfEveryKindKeepsNobodyOut) {
  const auto listener = listen();
  std::vector<RawPeer> peers;
  for (int i = 0; i < 8; ++i) {
    // Silent, and one byte that might be the beginning of a handshake: these may stay until their deadline.
    peers.push_back(RawPeer::connect_to(listener->port()));
    peers.push_back(RawPeer::connect_to(listener->port()));
    peers.back().send(std::string("\x89"));
  }
  const auto patient = peers.size();
  for (unsigned i = 0; i < 8; ++i) {
    for (const auto& text : {std::string("G"), tls_hello, http, noise(64 * 1024, i)}) {
      peers.push_back(RawPeer::connect_to(listener->port()));
      peers.back().send(text);
    }
    RawPeer::connect_to(listener->port()).reset();
    expect_right_client_gets_in(*listener);
  }
  EXPECT_EQ(arrivals_.size(), 8u);
  for (std::size_t i = patient; i < peers.size(); ++i)
    EXPECT_TRUE(run_until(*reactor_, [&] { return peers[i].closed(); })) << i;
  for (auto& peer : peers) EXPECT_TRUE(peer.received().empty()) << "a stranger got an answer";
}

TEST_F(Strangers, TheSilentAreDroppedAtTheirDeadline) {
  auto options = process_2();
  options.handshake_timeout = 20ms;
  const auto listener = listen(options);
  auto silent = RawPeer::connect_to(listener->port());
  auto begun = RawPeer::connect_to(listener->port());
  begun.send(std::string("\x89PARL"));
  EXPECT_TRUE(run_until(*reactor_, [&] { return silent.closed() && begun.closed(); }));
}

TEST_F(Strangers, OfTooManyTheOldestGo) {
  const auto listener = listen();
  std::vector<RawPeer> peers;
  for (int i = 0; i < 100; ++i) {
    peers.push_back(RawPeer::connect_to(listener->port()));
    run_ready(*reactor_);
  }
  const auto closed = [&] {
    return std::count_if(peers.begin(), peers.end(), [](RawPeer& peer) { return peer.closed(); });
  };
  ASSERT_TRUE(run_until(*reactor_, [&] { return closed() == 100 - 64; }));
  expect_right_client_gets_in(*listener);
  // The right client was the 65th; now that it is no stranger any more, a place is free.
  EXPECT_EQ(closed(), 100 - 63);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(peers[static_cast<std::size_t>(i)].closed(), i < 37) << i;
}

TEST_F(Strangers, AHandshakeInSingleBytesSucceeds) {
  const auto listener = listen();
  auto peer = RawPeer::connect_to(listener->port());
  DiallerHandshake dialler(from_1_to_2(), key_of(right().secret), nonce_of(1));
  const auto send_slowly = [&](std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      peer.send(bytes.subspan(i, 1));
      run_ready(*reactor_);
    }
  };
  send_slowly(dialler.hello());
  ASSERT_TRUE(run_until(*reactor_, [&] { return peer.received().size() == sizeof(ChallengeBytes); }));
  ASSERT_FALSE(dialler.take_challenge(peer.take<ChallengeBytes>()));
  send_slowly(dialler.proof());
  ASSERT_TRUE(run_until(*reactor_, [&] { return peer.received().size() == sizeof(WelcomeBytes); }));
  EXPECT_FALSE(dialler.take_welcome(peer.take<WelcomeBytes>()));
  EXPECT_EQ(arrivals_.size(), 1u);
}

// What the listeners of this process log while it lives, at this level.
class ListenerLines {
 public:
  explicit ListenerLines(LogLevel level) {
    set_log_level(level);
    set_log_sink([this](const LogRecord& record) {
      if (record.message.starts_with("listener ")) lines_.emplace_back(record.message);
    });
  }
  ~ListenerLines() {
    set_log_sink({});
    set_log_level(LogLevel::warn);
  }
  ListenerLines(const ListenerLines&) = delete;
  ListenerLines& operator=(const ListenerLines&) = delete;

  // Not more than one a second so far, and no text of a stranger.
  void expect_few() const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(base::Clock::now() - begun_);
    EXPECT_GE(lines_.size(), 1u);
    EXPECT_LE(lines_.size(), static_cast<std::size_t>(seconds.count()) + 1);
    for (const auto& line : lines_) EXPECT_EQ(line.find("INJECTED"), std::string::npos) << line;
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return lines_; }

 private:
  const base::Clock::time_point begun_ = base::Clock::now();
  std::vector<std::string> lines_;
};

// Those with another secret, another program's bytes, half a handshake, too many at once, and those for whom
// there is no descriptor, in turn.
TEST_F(Strangers, LogLinesOfAllKindsAreOneASecondAndHoldNoByteOfTheirs) {
  const ListenerLines lines(LogLevel::debug);
  auto options = process_2();
  options.handshake_timeout = 200ms;  // where there are no proofs, no secret is another one
  const auto listener = listen(options);
  const DiallerHandshake other_secret(from_1_to_2(), key_of("quite another secret"), nonce_of(1));
  for (unsigned round = 0; round < 10; ++round) {
    std::vector<RawPeer> peers;
    for (int i = 0; i < 10; ++i) {
      peers.push_back(RawPeer::connect_to(listener->port()));
      peers.back().send(other_secret.hello());
      peers.push_back(RawPeer::connect_to(listener->port()));
      peers.back().send("INJECTED\nLINE" + noise(200, round));
      run_ready(*reactor_);
    }
    for (auto& peer : peers) EXPECT_TRUE(run_until(*reactor_, [&] { return peer.closed(); }));
    peers.clear();
    for (int i = 0; i < 80; ++i) peers.push_back(RawPeer::connect_to(listener->port()));
    run_ready(*reactor_);
    for (auto& peer : peers) peer.reset();
    run_ready(*reactor_);
    peers.clear();
    peers.push_back(RawPeer::connect_to(listener->port()));
    const NoDescriptors none;
    EXPECT_TRUE(run_until(*reactor_, [&] { return peers[0].closed(); }));
  }
  lines.expect_few();
}

// What is not logged at the usual level takes no turn of what is.
TEST_F(Strangers, ScannersDoNotKeepARefusalOutOfTheLog) {
  if (!proofs_available()) return;  // every secret is right
  const ListenerLines lines(LogLevel::warn);
  const auto listener = listen();
  auto scanner = RawPeer::connect_to(listener->port());
  scanner.send(http);
  ASSERT_TRUE(run_until(*reactor_, [&] { return scanner.closed(); }));
  ASSERT_FALSE(dial_now({"127.0.0.1", listener->port()}, from_1_to_2(),
                        credentials_of("quite another secret"), base::Deadline::never())
                   .ok());
  ASSERT_EQ(lines.all().size(), 1u);
  EXPECT_NE(lines.all()[0].find("secrets differ"), std::string::npos) << lines.all()[0];
}

}  // namespace
}  // namespace parley::socket::testing
