#include "transport/socket/secure_stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "transport/base/unique_fd.h"
#include "transport/socket/connection.h"

// TLS over two socket pairs with the test in between, which sees and may change every byte; for builds with
// OpenSSL.
namespace parley::socket::testing {
namespace {

using Step = SecureStream::Step;
using Role = SecureStream::Role;
using Bytes = std::vector<std::byte>;

SharedKey shared_key(std::uint8_t seed = 1, std::string identity = "parley1 job 1 data 1 to 2") {
  SharedKey shared{std::move(identity), {}};
  shared.key.fill(std::byte{seed});
  return shared;
}

// Two ends of one encrypted connection, each with a socket to the middle.
class SecureStreams : public ::testing::Test {
 protected:
  void open(const SharedKey& at_client, const SharedKey& at_server, std::size_t records_per_key = 1000) {
    for (int i = 0; i < 2; ++i) {
      int fds[2];
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
      ends_[i] = base::UniqueFd(fds[0]);
      middle_[i] = base::UniqueFd(fds[1]);
    }
    client_ = make_secure_stream(ends_[0].get(), Role::client, at_client, records_per_key);
    server_ = make_secure_stream(ends_[1].get(), Role::server, at_server, records_per_key);
    ASSERT_TRUE(client_ && server_);
  }
  // Passes on what has come from one end; `flip` changes the byte at that place of it.
  Bytes relay(int from, std::size_t most = std::size_t{1} << 20, std::size_t flip = SIZE_MAX) {
    Bytes bytes(most);
    const ssize_t count = ::recv(middle_[from].get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    if (flip < bytes.size()) bytes[flip] ^= std::byte{1};
    if (bytes.empty()) return bytes;
    EXPECT_EQ(::send(middle_[1 - from].get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), count);
    return bytes;
  }
  // Both ends' last words.
  std::pair<Step, Step> shake_hands(std::size_t most = std::size_t{1} << 20) {
    Step client = Step::wants_read, server = Step::wants_read;
    for (int i = 0; i < 20'000; ++i) {
      if (client == Step::wants_read) client = client_->handshake();
      const bool moved = !relay(0, most).empty();
      if (server == Step::wants_read) server = server_->handshake();
      if (!moved && relay(1, most).empty() && client != Step::wants_read) break;
    }
    return {client, server};
  }
  static ssize_t send(SecureStream& stream, const void* data, std::size_t bytes) {
    const iovec part{const_cast<void*>(data), bytes};
    return stream.send({&part, 1});
  }
  static ssize_t receive(SecureStream& stream, void* into, std::size_t bytes) {
    const iovec part{into, bytes};
    return stream.receive({&part, 1});
  }

  base::UniqueFd ends_[2], middle_[2];
  std::unique_ptr<SecureStream> client_, server_;
};

TEST_F(SecureStreams, TheSameKeyMeetsAndNothingIsReadable) {
  open(shared_key(), shared_key());
  EXPECT_EQ(shake_hands(), std::pair(Step::done, Step::done));
  const std::string plain = "a sentence that nobody on the way may read";
  ASSERT_EQ(send(*client_, plain.data(), plain.size()), static_cast<ssize_t>(plain.size()));
  const Bytes seen = relay(0);
  EXPECT_GT(seen.size(), plain.size());
  const auto* letters = reinterpret_cast<const std::byte*>(plain.data());
  EXPECT_EQ(std::search(seen.begin(), seen.end(), letters, letters + 8), seen.end());
  std::array<char, 100> got{};
  ASSERT_EQ(receive(*server_, got.data(), got.size()), static_cast<ssize_t>(plain.size()));
  EXPECT_EQ(std::string(got.data()), plain);
  EXPECT_EQ(receive(*server_, got.data(), got.size()), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(SecureStreams, AHandshakeInSingleBytesSucceeds) {
  open(shared_key(), shared_key());
  EXPECT_EQ(shake_hands(1), std::pair(Step::done, Step::done));
}

TEST_F(SecureStreams, AnotherKeyOrIdentityIsRefused) {
  for (const auto& other : {shared_key(2), shared_key(1, "parley1 job 1 data 1 to 3"), shared_key(1, "x")}) {
    open(shared_key(), other);
    const auto [client, server] = shake_hands();
    EXPECT_NE(client, Step::done) << other.identity;
    EXPECT_EQ(server, Step::failed) << other.identity;
    EXPECT_FALSE(server_->problem().empty());
  }
}

// Whoever finishes first may send at once; that must wake a reader by the socket, not be swallowed.
TEST_F(SecureStreams, WhatFollowsTheHandshakeStaysInTheSocket) {
  open(shared_key(), shared_key());
  ASSERT_EQ(client_->handshake(), Step::wants_read);
  relay(0);
  ASSERT_EQ(server_->handshake(), Step::wants_read);
  relay(1);
  ASSERT_EQ(client_->handshake(), Step::done);
  ASSERT_EQ(send(*client_, "early", 5), 5);
  relay(0);  // both in one piece
  ASSERT_EQ(server_->handshake(), Step::done);
  EXPECT_FALSE(server_->unread());
  std::byte peeked;
  EXPECT_EQ(::recv(ends_[1].get(), &peeked, 1, MSG_PEEK | MSG_DONTWAIT), 1);
  std::array<char, 8> got{};
  EXPECT_EQ(receive(*server_, got.data(), got.size()), 5);
}

TEST_F(SecureStreams, ABitFlippedAnywhereIsNoticed) {
  const std::string plain(100, 'p');
  for (std::size_t at = 0; at < plain.size() + 22; ++at) {
    open(shared_key(), shared_key());
    ASSERT_EQ(shake_hands().second, Step::done);
    ASSERT_EQ(send(*client_, plain.data(), plain.size()), static_cast<ssize_t>(plain.size()));
    relay(0, 1 << 20, at);
    std::array<char, 200> got{};
    EXPECT_EQ(receive(*server_, got.data(), got.size()), -1) << at;
    // A length that grew is waited for; everything else is known to be wrong.
    EXPECT_TRUE(errno == EPROTO || (errno == EAGAIN && (at == 3 || at == 4))) << at;
  }
}

TEST_F(SecureStreams, ARecordThatIsTooLongEndsIt) {
  open(shared_key(), shared_key());
  ASSERT_EQ(shake_hands().second, Step::done);
  const std::array<unsigned char, 5> header{0x17, 0x03, 0x03, 0xff, 0xff};
  ASSERT_EQ(::send(middle_[1].get(), header.data(), header.size(), 0), 5);
  std::array<char, 8> got{};
  EXPECT_EQ(receive(*server_, got.data(), got.size()), -1);
  EXPECT_EQ(errno, EPROTO);
}

TEST_F(SecureStreams, TheEndOfTheStreamIsTheEnd) {
  open(shared_key(), shared_key());
  ASSERT_EQ(shake_hands().second, Step::done);
  middle_[1].reset();
  std::array<char, 8> got{};
  EXPECT_EQ(receive(*server_, got.data(), got.size()), 0);
}

// Small socket buffers, sizes of all kinds, several keys: every byte arrives once and in order, and a short
// answer means that nothing is held back.
TEST_F(SecureStreams, AnyMixOfSendsAndReceivesKeepsTheStream) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    open(shared_key(), shared_key(), 3);
    ASSERT_EQ(shake_hands().second, Step::done);
    const int small = 8192;
    setsockopt(ends_[0].get(), SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    Bytes out(3'000'000), in(out.size() + 1);
    for (auto& byte : out) byte = static_cast<std::byte>(random());
    std::size_t sent = 0, received = 0;
    bool refused = false;
    while (received < out.size()) {
      const std::size_t most = random() % 2 == 0 ? random() % 100 + 1 : random() % 300'000 + 1;
      if (sent < out.size()) {
        const std::size_t bytes = client_->sending() ? out.size() - sent : std::min(most, out.size() - sent);
        const std::array<iovec, 2> parts{
            {{out.data() + sent, bytes / 3}, {out.data() + sent + bytes / 3, bytes - bytes / 3}}};
        const ssize_t count = client_->send(parts);
        ASSERT_TRUE(count > 0 || (count < 0 && errno == EAGAIN)) << errno;
        if (count > 0) sent += static_cast<std::size_t>(count);
        refused = refused || count < 0;
      }
      relay(0, random() % 5000 + 1);
      const std::size_t wanted = std::min(most, in.size() - received);
      const ssize_t count = receive(*server_, in.data() + received, wanted);
      ASSERT_TRUE(count > 0 || (count < 0 && errno == EAGAIN)) << errno;
      if (count > 0) received += static_cast<std::size_t>(count);
      ASSERT_FALSE(count < static_cast<ssize_t>(wanted) && server_->unread());
    }
    in.pop_back();
    EXPECT_EQ(in, out);
    EXPECT_TRUE(refused) << "the socket was never full";
  }
}

}  // namespace
}  // namespace parley::socket::testing
