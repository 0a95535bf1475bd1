#include "transport/socket/dial.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <thread>

#include "tests/unit/socket/exchange.h"
#include "tests/unit/socket/meeting.h"
#include "transport/socket/reactor_context.h"
#include "transport/socket/tcp_socket.h"

namespace parley::socket::testing {
namespace {

using namespace std::chrono_literals;

using Dial = Meeting;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Dial, ByNameTriesEveryAddress) {
  const auto listener = listen();
  auto socket = dial_now("localhost", listener->port());
  EXPECT_TRUE(socket.ok()) << socket.failure().message;
}

TEST_F(Dial, WaitsForAListenerThatComesLater) {
  const ReservedPort port;
  std::optional<base::Result<Connection>> result;
  dial(*reactor_, {"127.0.0.1", port.number()}, from_1_to_2(), right(), guard(),
       [&](base::Result<Connection> outcome) { result.emplace(std::move(outcome)); });
  const auto later = base::Deadline::after(300ms);
  ASSERT_TRUE(run_until(*reactor_, [&] { return later.expired(); }));
  EXPECT_FALSE(result);
  auto options = process_2();
  options.port = port.number();
  const auto listener = listen(options);
  ASSERT_TRUE(run_until(*reactor_, [&] { return result.has_value(); }));
  EXPECT_TRUE(result->ok()) << result->failure().message;
}

TEST_F(Dial, WhereNobodyListensItIsUnreachableAndSaysWhere) {
  const ReservedPort port;
  auto socket = dial_now("127.0.0.1", port.number(), base::Deadline::after(500ms));
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ(socket.failure().status.code(), base::Code::unreachable);
  EXPECT_EQ(socket.failure().status.native(), ECONNREFUSED);
  const auto& text = socket.failure().message;
  EXPECT_TRUE(contains(
      text, "127.0.0.1:" + std::to_string(port.number()) + ": Connection refused (nothing listens there)"))
      << text;
}

TEST_F(Dial, AllAddressesOfANameAreListed) {
  const ReservedPort port;
  auto socket = dial_now("localhost", port.number(), base::Deadline::after(500ms));
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ(socket.failure().status.code(), base::Code::unreachable);
  const auto& text = socket.failure().message;
  EXPECT_TRUE(contains(text, "localhost:")) << text;
  EXPECT_TRUE(contains(text, "127.0.0.1:" + std::to_string(port.number()) + ": Connection refused")) << text;
}

TEST_F(Dial, AConnectionThatNobodyServesTimesOut) {
  ReservedPort port;
  port.listen(8);
  auto socket = dial_now("127.0.0.1", port.number(), base::Deadline::after(500ms));
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ(socket.failure().status.code(), base::Code::timed_out);
  const auto& text = socket.failure().message;
  EXPECT_TRUE(contains(text, "127.0.0.1:" + std::to_string(port.number()) + ": connected, but no answer"))
      << text;
}

// A full backlog drops SYNs silently, as a firewall does, and as nobody does at the address of a dead host.
class SilentPort {
 public:
  SilentPort() {
    port_.listen(0);
    for (int i = 0; i < 4; ++i) fill_.push_back(RawPeer::connect_to(port_.number()));
  }
  [[nodiscard]] std::uint16_t number() const { return port_.number(); }
  // Takes those that fill it, so that the next SYN is answered; by the kernel alone.
  void open() {
    port_.listen(64);
    for (RawPeer taken = port_.accept(); taken.fd() >= 0; taken = port_.accept()) {
    }
  }
  [[nodiscard]] RawPeer accept() { return port_.accept(); }

 private:
  ReservedPort port_;
  std::vector<RawPeer> fill_;
};

TEST_F(Dial, WherePacketsVanishNothingWasEverSeen) {
  const SilentPort port;
  auto socket = dial_now("127.0.0.1", port.number(), base::Deadline::after(500ms));
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ(socket.failure().status.code(), base::Code::unreachable);
  EXPECT_EQ(socket.failure().status.native(), ETIMEDOUT);
  EXPECT_TRUE(contains(socket.failure().message, "no answer (a firewall?)")) << socket.failure().message;
}

TEST_F(Dial, WhatHasConnectedOnceIsNeverTakenForALostHost) {
  SilentPort port;
  std::optional<base::Result<Connection>> result;
  dial(*reactor_, {"127.0.0.1", port.number()}, from_1_to_2(), right(), base::Deadline::after(4s),
       [&](base::Result<Connection> outcome) { result.emplace(std::move(outcome)); });
  run_ready(*reactor_);
  port.open();
  ASSERT_TRUE(run_until(*reactor_, [&] { return result.has_value(); }));
  ASSERT_FALSE(result->ok());
  EXPECT_EQ(result->failure().status.code(), base::Code::timed_out) << result->failure().message;
  EXPECT_TRUE(contains(result->failure().message, "is that process stopped?")) << result->failure().message;
}

// The kernel would send the third SYN of one connection after 3 s, the fourth after 7 s, the fifth after 15
// s.
TEST_F(Dial, ATryThatDoesNotConnectIsGivenUpForTheNext) {
  const SilentPort port;
  auto socket = dial_now("127.0.0.1", port.number(), base::Deadline::after(5500ms));
  ASSERT_FALSE(socket.ok());
  EXPECT_TRUE(contains(socket.failure().message, "tried 3 times")) << socket.failure().message;
}

TEST_F(Dial, ANameThatCannotBeResolvedIsUnreachable) {
  // No label of a name is that long, so no name server is asked.
  auto socket = dial_now(std::string(80, 'a'), 4242, base::Deadline::after(1s));
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ(socket.failure().status.code(), base::Code::unreachable);
  EXPECT_TRUE(contains(socket.failure().message, "cannot be resolved")) << socket.failure().message;
}

TEST_F(Dial, ADeadlineThatPassedBeforeStillEndsTheDialOnce) {
  const ReservedPort port;
  auto socket = dial_now("127.0.0.1", port.number(), base::Deadline::after(0ns));
  ASSERT_FALSE(socket.ok());
  EXPECT_TRUE(contains(socket.failure().message, "127.0.0.1")) << socket.failure().message;
}

TEST_F(Dial, AnotherProcessJobOrPurposeIsRefusedAtOnce) {
  const auto listener = listen();
  const DialTarget target{"127.0.0.1", listener->port()};
  const auto expect_refused = [&](base::Result<Connection> socket, const std::string& why) {
    ASSERT_FALSE(socket.ok());
    EXPECT_EQ(socket.failure().status.code(), base::Code::refused);
    EXPECT_TRUE(contains(socket.failure().message, why)) << socket.failure().message;
    EXPECT_TRUE(contains(socket.failure().message, std::to_string(target.port))) << socket.failure().message;
  };
  // Without a deadline: a refusal must end the dial by itself.
  const auto never = base::Deadline::never();
  expect_refused(dial_now(target, {Purpose::data, 1, 3}, right(), never),
                 "looks for process 3, the listener is process 2");
  expect_refused(dial_now(target, {Purpose::store, 1, 2}, right(), never), "looks for the store");
  expect_refused(dial_now(target, from_1_to_2(), credentials_of(right().secret, 9), never),
                 to_hex(job_of(9)));
  EXPECT_TRUE(arrivals_.empty());
  expect_right_client_gets_in(*listener);
}

// A listener that the test plays itself.
class DialServed : public Meeting {
 protected:
  void TearDown() override {
    peer_ = RawPeer();
    port_.reset();
    Meeting::TearDown();
  }

  void start_dial(base::Deadline deadline = guard()) {
    port_.emplace();
    port_->listen(8);
    dial(*reactor_, {"127.0.0.1", port_->number()}, from_1_to_2(), right(), deadline,
         [&](base::Result<Connection> outcome) { result_.emplace(std::move(outcome)); });
  }
  // Accepts the next connection and waits for its HELLO.
  void accept_hello() {
    peer_ = RawPeer();
    ASSERT_TRUE(run_until(*reactor_, [&] {
      if (peer_.fd() < 0) peer_ = port_->accept();
      return peer_.fd() >= 0 && peer_.received().size() == sizeof(HelloBytes);
    }));
  }
  // Plays the right listener, `piece` bytes a write.
  void serve(std::size_t piece) {
    ListenerHandshake listener({Purpose::data, 2}, key_of(right().secret), nonce_of(3));
    ASSERT_FALSE(listener.take_hello(peer_.take<HelloBytes>()));
    send_in_pieces(listener.challenge(), piece);
    ASSERT_TRUE(run_until(*reactor_, [&] { return peer_.received().size() == sizeof(ProofBytes); }));
    ASSERT_FALSE(listener.take_proof(peer_.take<ProofBytes>()));
    send_in_pieces(listener.welcome(), piece);
  }
  void send_in_pieces(std::span<const std::byte> bytes, std::size_t piece) {
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      peer_.send(bytes.subspan(at, std::min(piece, bytes.size() - at)));
      run_ready(*reactor_);
    }
  }
  void expect_end(bool ok, base::Code code, const std::string& text) {
    ASSERT_TRUE(run_until(*reactor_, [&] { return result_.has_value(); }));
    ASSERT_EQ(result_->ok(), ok);
    if (ok) return;
    EXPECT_EQ(result_->failure().status.code(), code);
    EXPECT_TRUE(contains(result_->failure().message, text)) << result_->failure().message;
  }

  std::optional<ReservedPort> port_;
  RawPeer peer_;
  std::optional<base::Result<Connection>> result_;
};

TEST_F(DialServed, AnswersInSingleBytesAreUnderstood) {
  start_dial();
  accept_hello();
  serve(1);
  expect_end(true, {}, {});
  result_.reset();
}

TEST_F(DialServed, AnotherProgramIsRecognizedByItsFirstBytes) {
  start_dial(base::Deadline::never());
  accept_hello();
  peer_.send(std::string("SSH-2.0-x\r\n"));
  expect_end(false, base::Code::refused, "another program uses this port");
}

TEST_F(DialServed, AnotherVersionIsRefusedWithBoth) {
  start_dial(base::Deadline::never());
  accept_hello();
  peer_.send(encode(Challenge{.version = 2, .reason = Reason::other_version}));
  const auto begin = base::Clock::now();
  expect_end(false, base::Code::refused, "version 1 of the protocol, the listener version 2");
  EXPECT_LT(base::Clock::now() - begin, 4s) << "refused at once";
}

TEST_F(DialServed, AConnectionClosedInTheHandshakeIsTriedAgain) {
  start_dial();
  accept_hello();
  accept_hello();  // drops the first
  serve(100);
  expect_end(true, {}, {});
  result_.reset();
}

TEST_F(DialServed, AListenerThatAlwaysClosesIsUnreachable) {
  start_dial(base::Deadline::after(200ms));
  ASSERT_TRUE(run_until(*reactor_, [&] {
    RawPeer closed_at_once = port_->accept();
    return result_.has_value();
  }));
  expect_end(false, base::Code::unreachable, "closed the connection during the handshake");
}

TEST_F(DialServed, AReactorMayGoWhileADialIsUnderWay) {
  start_dial();
  accept_hello();
  reactor_ = std::make_unique<Reactor>();
  EXPECT_FALSE(result_);
  EXPECT_TRUE(run_until(*reactor_, [&] { return peer_.closed(); }));
}

TEST_F(Dial, MayBeCalledWhileAnotherThreadSleeps) {
  const auto listener = listen();
  std::atomic<int> ended{0}, good{0};
  std::thread other([&] {
    for (int i = 0; i < 8; ++i)
      dial(*reactor_, {"127.0.0.1", listener->port()}, from_1_to_2(), right(), guard(),
           [&](base::Result<Connection> outcome) {
             good += outcome.ok() ? 1 : 0;
             ++ended;
           });
  });
  EXPECT_TRUE(run_until(*reactor_, [&] { return ended == 8; }));
  other.join();
  EXPECT_EQ(good, 8);
}

TEST(TcpSocket, AConnectionToItselfIsRecognized) {
  using asio::ip::tcp;
  asio::io_context context;
  tcp::socket socket(context), other(context);
  const tcp::endpoint any_port(asio::ip::address_v4::loopback(), 0);
  base::UniqueFd fd = open_tcp(tcp::v4());
  ASSERT_EQ(::bind(fd.get(), any_port.data(), static_cast<socklen_t>(any_port.size())), 0);
  socket.assign(tcp::v4(), fd.release());
  EXPECT_FALSE(connected_to_itself(socket));
  const auto self = socket.local_endpoint();
  asio::error_code error;
  socket.connect(self, error);
  ASSERT_FALSE(error) << error.message();
  EXPECT_TRUE(connected_to_itself(socket));
  close_at_once(socket);
  // The port is free at once, also for one who does not ask for a port still in use.
  base::UniqueFd next = open_tcp(tcp::v4());
  EXPECT_EQ(::bind(next.get(), self.data(), static_cast<socklen_t>(self.size())), 0);
}

}  // namespace
}  // namespace parley::socket::testing
