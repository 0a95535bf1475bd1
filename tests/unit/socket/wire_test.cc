#include <atomic>

#include "tests/long_tests.h"
#include "tests/unit/socket/byte_proxy.h"
#include "tests/unit/socket/exchange.h"
#include "tests/unit/socket/meeting.h"

// The handshake over a wire that cuts, changes and repeats.
namespace parley::socket::testing {
namespace {

using namespace std::chrono_literals;
using Direction = ByteProxy::Direction;

using Wire = Meeting;

constexpr std::size_t to_listener_bytes = sizeof(HelloBytes) + sizeof(ProofBytes);
constexpr std::size_t to_dialler_bytes = sizeof(ChallengeBytes) + sizeof(WelcomeBytes);

TEST_F(Wire, AHandshakeOfSingleBytesInBothDirectionsSucceeds) {
  const auto listener = listen();
  const ByteProxy proxy(listener->port());
  auto socket = dial_now("127.0.0.1", proxy.port());
  ASSERT_TRUE(socket.ok()) << socket.failure().message;
  ASSERT_TRUE(run_until(*reactor_, [&] { return arrivals_.size() == 1; }));
  // The proxy counts a byte after it has sent it.
  constexpr std::size_t bytes = to_listener_bytes + to_dialler_bytes;
  EXPECT_TRUE(run_until(*reactor_, [&] { return proxy.bytes_passed() >= bytes; }));
  EXPECT_EQ(proxy.bytes_passed(), bytes);
}

TEST_F(Wire, ARefusalOfSingleBytesIsUnderstood) {
  const auto listener = listen();
  const ByteProxy proxy(listener->port());
  const auto other_job = credentials_of(right().secret, 9);
  auto socket = dial_now({"127.0.0.1", proxy.port()}, from_1_to_2(), other_job, base::Deadline::never());
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ(socket.failure().status.code(), base::Code::refused);
  EXPECT_NE(socket.failure().message.find("belongs to job"), std::string::npos) << socket.failure().message;
}

// One bit of each byte in turn, over real connections; proof_test.cc flips every bit of the messages. What
// the listener takes for another program it closes without a word, and the dialler tries again: so the
// handshake with the changed byte is over when the dial was refused, or when the byte of a second one is
// changed.
TEST_F(Wire, AByteChangedOnTheWayLetsNobodyIn) {
  if (!proofs_available()) return;  // without proofs changes cannot be noticed
  const auto listener = listen();
  const auto expect_out = [&](Direction where, std::size_t target) {
    std::atomic<int> hits{0};
    const ByteProxy proxy(listener->port(), [&](Direction direction, std::size_t offset, std::byte byte) {
      const bool hit = direction == where && offset == target;
      if (hit) ++hits;
      return hit ? byte ^ (std::byte{1} << static_cast<int>(offset % 8)) : byte;
    });
    for (const auto patience : {100ms, 1000ms, 10'000ms}) {
      hits = 0;
      auto socket = dial_now("127.0.0.1", proxy.port(), base::Deadline::after(patience));
      ASSERT_FALSE(socket.ok()) << "byte " << target;
      const bool refused = socket.failure().status.code() == base::Code::refused;
      if (hits >= 2 || (hits == 1 && refused)) return;
    }
    ADD_FAILURE() << "no handshake with byte " << target << " changed has come to its end";
  };
  for (std::size_t i = 0; i < to_listener_bytes; ++i) {
    expect_out(Direction::to_listener, i);
    ASSERT_TRUE(arrivals_.empty()) << i;
  }
  for (std::size_t i = 0; i < to_dialler_bytes; ++i) {
    expect_out(Direction::to_dialler, i);
    ASSERT_TRUE(arrivals_.empty() || i >= sizeof(ChallengeBytes)) << i;
  }
  arrivals_.clear();  // accepted in good faith: only the welcome was changed, and the dialler has closed
  expect_right_client_gets_in(*listener);
}

TEST_F(Wire, ARecordedDiallerIsRefusedAThousandTimes) {
  if (!proofs_available()) return;  // without proofs whoever comes is right
  const auto listener = listen();
  DiallerHandshake dialler(from_1_to_2(), key_of(right().secret), nonce_of(1));
  auto first = RawPeer::connect_to(listener->port());
  first.send(dialler.hello());
  ASSERT_TRUE(run_until(*reactor_, [&] { return first.received().size() == sizeof(ChallengeBytes); }));
  ASSERT_FALSE(dialler.take_challenge(first.take<ChallengeBytes>()));
  first.send(dialler.proof());
  ASSERT_TRUE(run_until(*reactor_, [&] { return arrivals_.size() == 1; }));
  for (int i = 0; i < 1000; ++i) {
    auto replay = RawPeer::connect_to(listener->port());
    replay.send(dialler.hello());
    replay.send(dialler.proof());
    ASSERT_TRUE(run_until(*reactor_, [&] { return replay.closed(); }));
    ASSERT_EQ(arrivals_.size(), 1u) << i;
  }
  EXPECT_FALSE(first.closed()) << "the right process was disturbed";
  expect_right_client_gets_in(*listener);
}

TEST_F(Wire, ADiallerThatHearsItsOwnBytesGivesUpAtOnce) {
  ReservedPort port;
  port.listen(8);
  std::optional<base::Result<Connection>> result;
  dial(*reactor_, {"127.0.0.1", port.number()}, from_1_to_2(), right(), guard(),
       [&](base::Result<Connection> outcome) { result.emplace(std::move(outcome)); });
  RawPeer mirror;
  ASSERT_TRUE(run_until(*reactor_, [&] {
    if (mirror.fd() < 0) mirror = port.accept();
    if (mirror.fd() >= 0 && mirror.received().size() >= sizeof(HelloBytes))
      mirror.send(mirror.take<HelloBytes>());
    return result.has_value();
  }));
  ASSERT_FALSE(result->ok());
  EXPECT_EQ(result->failure().status.code(), base::Code::refused);
}

// Refused means at once, not at the handshake's limit of 5 s or at the dial's deadline: it takes
// milliseconds. Promised is a second; without PARLEY_LONG_TESTS=1 a machine under load gets more, which still
// is no limit of 5 s.
std::chrono::milliseconds promised() {
  return long_tests() ? 1s : 4s;
}

TEST_F(Wire, EveryRefusalComesAtOnceAndLeavesOthersAlone) {
  const auto listener = listen();
  ASSERT_TRUE(dial_now("127.0.0.1", listener->port()).ok());
  struct Case {
    const char* what;
    Identity identity;
    Credentials credentials;
  };
  std::vector<Case> cases{{"process", {Purpose::data, 1, 7}, right()},
                          {"purpose", {Purpose::store, 1, 2}, right()},
                          {"job", from_1_to_2(), credentials_of(right().secret, 9)}};
  if (proofs_available()) cases.push_back({"secret", from_1_to_2(), credentials_of("quite another secret")});
  for (const auto& [what, identity, credentials] : cases) {
    const auto begin = base::Clock::now();
    auto socket =
        dial_now({"127.0.0.1", listener->port()}, identity, credentials, base::Deadline::after(30s));
    ASSERT_FALSE(socket.ok()) << what;
    EXPECT_EQ(socket.failure().status.code(), base::Code::refused) << what;
    EXPECT_LT(base::Clock::now() - begin, promised()) << what;
  }
  const auto begin = base::Clock::now();
  auto other_version = RawPeer::connect_to(listener->port());
  other_version.send(encode(Hello{.version = protocol_version + 1, .from = 1, .to = 2}));
  ASSERT_TRUE(run_until(*reactor_, [&] { return other_version.closed(); }));
  const auto answer = decode_challenge(other_version.take<ChallengeBytes>());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->reason, Reason::other_version);
  EXPECT_EQ(answer->version, protocol_version);
  EXPECT_LT(base::Clock::now() - begin, promised()) << "version";
  ASSERT_EQ(arrivals_.size(), 1u);
  RawPeer first(std::move(arrivals_[0].socket));
  EXPECT_TRUE(first.received().empty());
  arrivals_.clear();
  expect_right_client_gets_in(*listener);
}

}  // namespace
}  // namespace parley::socket::testing
