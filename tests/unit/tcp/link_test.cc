// A link over a socket pair: what is posted while packets are delivered.
#include "transport/tcp/tcp_link.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "transport/base/unique_fd.h"

namespace parley::transport {
namespace {

using base::Code;
using Urgency = Endpoint::Urgency;

class LinkTest : public ::testing::Test, public PacketSink {
 protected:
  LinkTest() {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    peer_.reset(fds[1]);
    link_.emplace(socket::Connection(base::UniqueFd(fds[0])), *this, unsent_);
  }

  // So many packets without payload are there to be read at once.
  void deliver(int count) {
    const std::vector<PacketHeader> packets(static_cast<std::size_t>(count),
                                            PacketHeader{.kind = PacketKind::grant});
    const auto bytes = static_cast<ssize_t>(packets.size() * sizeof(PacketHeader));
    ASSERT_EQ(::write(peer_.get(), packets.data(), static_cast<std::size_t>(bytes)), bytes);
  }
  // All that the peer can read now.
  std::size_t read_as_peer() {
    std::array<std::byte, 4096> some;
    std::size_t bytes = 0;
    for (ssize_t got = 0; (got = ::read(peer_.get(), some.data(), some.size())) > 0;)
      bytes += static_cast<std::size_t>(got);
    return bytes;
  }

  std::function<void(int)> on_packet_;  // with the number of those that came before
  TcpLink::UnsentList unsent_;
  base::UniqueFd peer_;
  std::optional<TcpLink> link_;

 private:
  void on_link(PeerId, Endpoint&) noexcept override {}
  void on_unreachable(PeerId, base::Status, std::string_view) noexcept override {}
  void on_packet(Endpoint&, const PacketHeader&, std::span<const std::byte>) noexcept override {
    on_packet_(packets_++);
  }
  base::MemoryRef on_header(Endpoint&, const PacketHeader&) noexcept override { return {}; }
  void on_landed(Endpoint&, const PacketHeader&) noexcept override {}
  void on_writable(Endpoint&) noexcept override {}
  void on_closed(Endpoint&, base::Status) noexcept override {}

  int packets_ = 0;
};

// A payload that is to leave, and whether it has.
struct Leaving : Completion {
  explicit Leaving(std::size_t bytes) : payload(bytes) {
    fn = [](Completion& self, base::Status status) noexcept {
      EXPECT_TRUE(status.ok());
      static_cast<Leaving&>(self).has_left = true;
    };
  }
  base::Status post(TcpLink& link) {
    PacketHeader header{.kind = PacketKind::data};
    header.payload_bytes = static_cast<std::uint32_t>(payload.size());
    const base::Status status = link.try_send(header, {payload.data(), payload.size()}, this, Urgency::now);
    has_left = has_left || status.ok();
    return status;
  }
  std::vector<std::byte> payload;
  bool has_left = false;
};

TEST_F(LinkTest, AnswersToOneReadLeaveTogether) {
  constexpr int count = 10;
  on_packet_ = [&](int) {
    EXPECT_TRUE(link_->try_send({.kind = PacketKind::grant}, {}, nullptr, Urgency::now).ok());
    EXPECT_EQ(read_as_peer(), 0U) << "others may follow";
  };
  deliver(count);
  EXPECT_EQ(link_->receive(), static_cast<std::size_t>(count));
  EXPECT_EQ(read_as_peer(), count * sizeof(PacketHeader));
}

// The peer reads meanwhile, so that the rest could leave with the answers: of some sizes all of it.
TEST_F(LinkTest, ALargeAnswerEndsAlsoIfMoreIsAnsweredBehindIt) {
  const int room = 8 << 10;
  ASSERT_EQ(setsockopt(link_->descriptor(), SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)), 0);
  int begun = 0;
  for (std::size_t bytes = 9 << 10; bytes < 64 << 10; bytes += 500) {
    Leaving first(bytes), second(bytes);
    on_packet_ = [&](int number) {
      if (number % 2 == 0)
        begun += first.post(*link_).code() == Code::in_progress ? 1 : 0;
      else
        read_as_peer();
    };
    deliver(2);
    EXPECT_EQ(link_->receive(), 2U);
    bool is_posted = false;
    for (int i = 0; i < 1000 && !(first.has_left && second.has_left); ++i) {
      is_posted = is_posted || second.post(*link_).code() != Code::again;
      read_as_peer();
      link_->write_unsent();
    }
    ASSERT_TRUE(first.has_left && second.has_left) << bytes;
  }
  EXPECT_GT(begun, 20) << "did not fit at once";
}

}  // namespace
}  // namespace parley::transport
