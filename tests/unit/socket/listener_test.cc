#include "transport/socket/listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <parley/error.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <thread>

#include "tests/unit/socket/exchange.h"
#include "tests/unit/socket/meeting.h"
#include "tests/unit/socket/no_descriptors.h"

namespace parley::socket::testing {
namespace {

using namespace std::chrono_literals;

using ListenerTest = Meeting;

int option(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof(value);
  EXPECT_EQ(getsockopt(fd, level, name, &value, &size), 0);
  return value;
}

void expect_tuned(int fd) {
  EXPECT_NE(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_NODELAY), 1);
  EXPECT_EQ(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 10);
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_KEEPINTVL), 2);
  // Loopback: a peer held by a debugger is not lost.
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 0);
  std::array<char, 16> control{};
  socklen_t size = control.size();
  ASSERT_EQ(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control.data(), &size), 0);
  EXPECT_STREQ(control.data(), "reno");
}

TEST_F(ListenerTest, HandsOverATunedSocketAndSaysWhoDialled) {
  const auto listener = listen();
  EXPECT_EQ(listener->host(), "127.0.0.1");
  ASSERT_NE(listener->port(), 0);
  auto dialled = dial_now("127.0.0.1", listener->port());
  ASSERT_TRUE(dialled.ok()) << dialled.failure().message;
  ASSERT_TRUE(run_until(*reactor_, [&] { return arrivals_.size() == 1; }));
  EXPECT_EQ(arrivals_[0].identity.purpose, Purpose::data);
  EXPECT_EQ(arrivals_[0].identity.from, 1u);
  EXPECT_EQ(arrivals_[0].identity.to, 2u);
  expect_tuned(arrivals_[0].socket.descriptor());
  expect_tuned(dialled.value().descriptor());

  // The handshake took not a byte too many.
  RawPeer dialler(std::move(dialled).value()), accepted(std::move(arrivals_[0].socket));
  dialler.send("first bytes");
  accepted.send("answer");
  ASSERT_TRUE(run_until(*reactor_,
                        [&] { return accepted.received().size() == 11 && dialler.received().size() == 6; }));
}

TEST_F(ListenerTest, BytesRightBehindTheHandshakeAreLeftInTheSocket) {
  const auto listener = listen();
  auto peer = RawPeer::connect_to(listener->port());
  DiallerHandshake dialler(from_1_to_2(), key_of(right().secret), nonce_of(1));
  peer.send(dialler.hello());
  ASSERT_TRUE(run_until(*reactor_, [&] { return peer.received().size() == sizeof(ChallengeBytes); }));
  ASSERT_FALSE(dialler.take_challenge(peer.take<ChallengeBytes>()));
  std::string rest(sizeof(ProofBytes), '\0');
  std::memcpy(rest.data(), dialler.proof().data(), rest.size());
  peer.send(rest + "and then data");
  ASSERT_TRUE(run_until(*reactor_, [&] { return arrivals_.size() == 1; }));
  RawPeer accepted(std::move(arrivals_[0].socket));
  EXPECT_EQ(accepted.received().size(), std::string("and then data").size());
}

TEST_F(ListenerTest, BindsToTheAddressGivenAndToNoOther) {
  const auto listener = listen();
  auto elsewhere = dial_now("127.0.0.2", listener->port(), base::Deadline::after(50ms));
  ASSERT_FALSE(elsewhere.ok());
  EXPECT_EQ(elsewhere.failure().status.code(), base::Code::unreachable);
  expect_right_client_gets_in(*listener);
}

TEST_F(ListenerTest, ListensOnIpv6) {
  auto options = process_2();
  options.host = "::1";
  const auto listener = listen(options);
  EXPECT_EQ(listener->host(), "::1");
  expect_right_client_gets_in(*listener);
}

TEST_F(ListenerTest, APortInUseIsNamedInTheError) {
  const auto listener = listen();
  auto options = process_2();
  options.port = listener->port();
  try {
    listen(options);
    FAIL() << "two listeners on one port";
  } catch (const SystemError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("127.0.0.1:" + std::to_string(listener->port())), std::string::npos) << text;
    EXPECT_NE(text.find("another process listens there"), std::string::npos) << text;
  }
}

TEST_F(ListenerTest, AnAddressOfNoInterfaceAndAnEmptyOneAreErrors) {
  auto options = process_2();
  options.host = "192.0.2.1";  // set aside for documentation
  EXPECT_THROW(listen(options), SystemError);
  options.host = "";
  EXPECT_THROW(listen(options), SystemError);
  options.host = std::string(80, 'a');  // no label of a name is that long, so no name server is asked
  EXPECT_THROW(listen(options), SystemError);
}

TEST_F(ListenerTest, StopRefusesNewConnectionsAndDropsThoseInTheHandshake) {
  const auto listener = listen();
  auto silent = RawPeer::connect_to(listener->port());
  run_ready(*reactor_);
  std::thread other([&] { listener->stop(); });
  ASSERT_TRUE(run_until(*reactor_, [&] { return silent.closed(); }));
  other.join();
  auto late = dial_now("127.0.0.1", listener->port(), base::Deadline::after(50ms));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.failure().status.code(), base::Code::unreachable);
  listener->stop();
}

TEST_F(ListenerTest, DestroyedWithStrangersInEveryPhase) {
  auto listener = listen();
  const auto port = listener->port();
  auto silent = RawPeer::connect_to(port);
  auto half_hello = RawPeer::connect_to(port);
  auto challenged = RawPeer::connect_to(port);
  DiallerHandshake dialler(from_1_to_2(), key_of(right().secret), nonce_of(1));
  half_hello.send(std::span(dialler.hello()).first(10));
  challenged.send(dialler.hello());
  ASSERT_TRUE(run_until(*reactor_, [&] { return challenged.received().size() == sizeof(ChallengeBytes); }));
  ASSERT_FALSE(dialler.take_challenge(challenged.take<ChallengeBytes>()));
  challenged.send(dialler.proof());
  auto unaccepted = RawPeer::connect_to(port);

  listener.reset();
  run_ready(*reactor_);
  EXPECT_TRUE(run_until(*reactor_, [&] {
    return silent.closed() && half_hello.closed() && challenged.closed() && unaccepted.closed();
  }));
  EXPECT_TRUE(arrivals_.empty());
}

TEST_F(ListenerTest, AReactorMayGoRightAfterItsListener) {
  auto listener = listen();
  auto silent = RawPeer::connect_to(listener->port());
  run_ready(*reactor_);
  listener->stop();
  listener.reset();
  reactor_ = std::make_unique<Reactor>();
  EXPECT_TRUE(run_until(*reactor_, [&] { return silent.closed(); }));
}

TEST_F(ListenerTest, WithoutDescriptorsItTurnsAwayAndDoesNotSpin) {
  const auto listener = listen();
  std::vector<RawPeer> peers;
  for (int i = 0; i < 3; ++i) peers.push_back(RawPeer::connect_to(listener->port()));
  {
    const NoDescriptors none;
    for (auto& peer : peers) ASSERT_TRUE(run_until(*reactor_, [&] { return peer.closed(); }));
    // Nothing is left to accept, so nothing is left to do.
    std::size_t polls = 0;
    while (reactor_->poll() > 0 && polls < 1000) ++polls;
    EXPECT_LT(polls, 1000u);
  }
  expect_right_client_gets_in(*listener);
}

}  // namespace
}  // namespace parley::socket::testing
