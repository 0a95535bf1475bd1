#include <parley/error.h>

#include <utility>

#include "tests/unit/socket/byte_proxy.h"
#include "tests/unit/socket/exchange.h"
#include "tests/unit/socket/meeting.h"

// TLS after the handshake, over real sockets; for builds with OpenSSL.
namespace parley::socket::testing {
namespace {

using namespace std::chrono_literals;
using Direction = ByteProxy::Direction;

class Encryption : public Meeting {
 protected:
  static Credentials encrypted() {
    Credentials credentials = right();
    credentials.encrypt = true;
    return credentials;
  }
  std::unique_ptr<Listener> listen_with(const Credentials& credentials) {
    return std::make_unique<Listener>(*reactor_, process_2(), credentials, collect());
  }
  auto dial_with(const Credentials& credentials, std::uint16_t port, base::Deadline deadline = guard()) {
    return dial_now({"127.0.0.1", port}, from_1_to_2(), credentials, deadline);
  }
};

TEST_F(Encryption, BothEndsTalkInBothDirections) {
  const auto listener = listen_with(encrypted());
  auto dialled = dial_with(encrypted(), listener->port());
  ASSERT_TRUE(dialled.ok()) << dialled.failure().message;
  ASSERT_TRUE(run_until(*reactor_, [&] { return arrivals_.size() == 1; }));
  EXPECT_EQ(arrivals_[0].identity.from, 1u);
  EXPECT_TRUE(dialled.value().encrypted());
  EXPECT_TRUE(arrivals_[0].socket.encrypted());
  RawPeer dialler(std::move(dialled).value()), accepted(std::move(arrivals_[0].socket));
  dialler.send("there");
  EXPECT_TRUE(run_until(*reactor_, [&] { return accepted.received().size() == 5; }));
  accepted.send("and back");
  EXPECT_TRUE(run_until(*reactor_, [&] { return dialler.received().size() == 8; }));
  accepted.reset();
  EXPECT_TRUE(run_until(*reactor_, [&] { return dialler.closed(); }));
}

TEST_F(Encryption, OneEndWithoutIsRefusedByNameWhicheverItIs) {
  for (const bool at_listener : {true, false}) {
    const auto listener = listen_with(at_listener ? encrypted() : right());
    auto socket = dial_with(at_listener ? right() : encrypted(), listener->port(), base::Deadline::never());
    ASSERT_FALSE(socket.ok());
    EXPECT_EQ(socket.failure().status.code(), base::Code::refused);
    const std::string why = std::string("TLS is ") + (at_listener ? "off" : "on") + " at the dialler and " +
                            (at_listener ? "on" : "off") + " at the listener";
    EXPECT_NE(socket.failure().message.find(why), std::string::npos) << socket.failure().message;
    EXPECT_TRUE(arrivals_.empty());
  }
}

// The wish to encrypt is covered by the proof: nobody on the way can talk the two out of it.
TEST_F(Encryption, TheWishCannotBeTakenAwayOnTheWay) {
  const auto listener = listen_with(right());
  const ByteProxy proxy(listener->port(), [](Direction direction, std::size_t offset, std::byte byte) {
    return direction == Direction::to_listener && offset == 11 ? std::byte{0} : byte;
  });
  auto socket = dial_with(encrypted(), proxy.port(), base::Deadline::never());
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ(socket.failure().status.code(), base::Code::refused);
  EXPECT_NE(socket.failure().message.find("proof is wrong"), std::string::npos) << socket.failure().message;
}

TEST_F(Encryption, SingleBytesInBothDirectionsSucceed) {
  const auto listener = listen_with(encrypted());
  const ByteProxy proxy(listener->port());
  auto socket = dial_with(encrypted(), proxy.port());
  ASSERT_TRUE(socket.ok()) << socket.failure().message;
  ASSERT_TRUE(run_until(*reactor_, [&] { return arrivals_.size() == 1; }));
}

// Every third byte of TLS's own handshake, in both directions.
TEST_F(Encryption, AByteChangedInTheTlsHandshakeLetsNobodyIn) {
  const auto listener = listen_with(encrypted());
  constexpr std::size_t plain_to_listener = sizeof(HelloBytes) + sizeof(ProofBytes);
  constexpr std::size_t plain_to_dialler = sizeof(ChallengeBytes) + sizeof(WelcomeBytes);
  for (const Direction where : {Direction::to_listener, Direction::to_dialler}) {
    std::size_t changed = 0;
    // A length that has grown is waited for; a slow machine needs longer to get that far.
    std::chrono::milliseconds patience = 200ms;
    for (std::size_t i = 0;;) {
      const std::size_t target = i + (where == Direction::to_listener ? plain_to_listener : plain_to_dialler);
      std::atomic<bool> hit{false};
      const ByteProxy proxy(listener->port(), [&](Direction direction, std::size_t offset, std::byte byte) {
        if (direction != where || offset != target) return byte;
        hit = true;
        return byte ^ std::byte{1};
      });
      auto socket = dial_with(encrypted(), proxy.port(), base::Deadline::after(patience));
      if (hit) {
        EXPECT_FALSE(socket.ok()) << "byte " << target;
        ++changed;
        i += 3;
      } else if (socket.ok()) {
        break;  // the handshake is over before this byte
      } else {
        patience *= 2;
        ASSERT_LT(patience, 60s) << socket.failure().message;
      }
    }
    EXPECT_GT(changed, 40u) << "TLS's messages were not found";
  }
  arrivals_.clear();  // the listener has said its last word before the dialler sees that it was changed
}

TEST_F(Encryption, WithoutAuthenticationThereIsNone) {
  Credentials open = encrypted();
  open.authenticate = false;
  EXPECT_THROW(listen_with(open), SystemError);
  auto socket = dial_with(open, 1, base::Deadline::never());
  ASSERT_FALSE(socket.ok());
  EXPECT_NE(socket.failure().message.find("PARLEY_AUTH=off"), std::string::npos) << socket.failure().message;
}

}  // namespace
}  // namespace parley::socket::testing
