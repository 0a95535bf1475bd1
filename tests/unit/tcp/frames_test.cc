// FrameSender and FrameReceiver over a socket pair: every way of cutting the stream gives the same packets.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "transport/base/unique_fd.h"
#include "transport/interface/endpoint.h"
#include "transport/tcp/frame_receiver.h"
#include "transport/tcp/frame_sender.h"
#include "transport/tcp/padding.h"

namespace parley::transport {
namespace {

using base::Code;
using Bytes = std::vector<std::byte>;

struct Pair {
  Pair() {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    a = socket::Connection(base::UniqueFd(fds[0]));
    b = socket::Connection(base::UniqueFd(fds[1]));
  }
  socket::Connection a;
  socket::Connection b;
};

// An endpoint that only has an identity.
struct NoEndpoint final : Endpoint {
  base::Status try_send(const PacketHeader&, const base::ConstMemoryRef&, Completion*,
                        Urgency) noexcept override {
    return Code::closed;
  }
  std::size_t copy_limit_bytes() const noexcept override { return 0; }
  bool drained() const noexcept override { return true; }
  void close() noexcept override {}
};

// Keeps what arrives, whole or in two steps.
struct Recorder final : PacketSink {
  struct Packet {
    PacketHeader header;
    Bytes payload;
  };
  void on_link(PeerId, Endpoint&) noexcept override {}
  void on_unreachable(PeerId, base::Status, std::string_view) noexcept override {}
  void on_packet(Endpoint&, const PacketHeader& header,
                 std::span<const std::byte> payload) noexcept override {
    EXPECT_FALSE(landing);
    packets.push_back({header, Bytes(payload.begin(), payload.end())});
  }
  base::MemoryRef on_header(Endpoint&, const PacketHeader& header) noexcept override {
    EXPECT_FALSE(landing);
    landing = true;
    packets.push_back({header, Bytes(header.payload_bytes)});
    return {packets.back().payload.data(), packets.back().payload.size()};
  }
  void on_landed(Endpoint&, const PacketHeader& header) noexcept override {
    EXPECT_TRUE(landing);
    landing = false;
    EXPECT_EQ(header.tag, packets.back().header.tag);
    ++landed;
  }
  void on_writable(Endpoint&) noexcept override {}
  void on_closed(Endpoint&, base::Status) noexcept override {}

  std::vector<Packet> packets;
  bool landing = false;
  int landed = 0;
};

PacketHeader header_of(std::int64_t tag, std::size_t bytes) {
  PacketHeader header{.kind = PacketKind::eager};
  header.tag = tag;
  header.payload_bytes = static_cast<std::uint32_t>(bytes);
  return header;
}

Bytes payload_of(std::int64_t tag, std::size_t bytes) {
  Bytes payload(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    payload[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(tag));
  return payload;
}

void expect_packets(const Recorder& sink, const std::vector<std::size_t>& sizes) {
  ASSERT_EQ(sink.packets.size(), sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(sink.packets[i].header.tag, static_cast<std::int64_t>(i));
    EXPECT_EQ(sink.packets[i].payload, payload_of(static_cast<std::int64_t>(i), sizes[i])) << i;
  }
}

std::vector<std::size_t> random_sizes(std::mt19937_64& random, int count) {
  const std::size_t scales[] = {1, 60, 5'000, 9'000, 70'000, 400'000};
  std::vector<std::size_t> sizes;
  for (int i = 0; i < count; ++i) sizes.push_back(random() % scales[random() % std::size(scales)]);
  return sizes;
}

TEST(FrameReceiver, OneBytePerWrite) {
  Pair pair;
  const std::vector<std::size_t> sizes = {0, 1, 100, 5'000, 9'000, 0, 3};
  Bytes stream;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const PacketHeader header = header_of(static_cast<std::int64_t>(i), sizes[i]);
    const auto* raw = reinterpret_cast<const std::byte*>(&header);
    stream.insert(stream.end(), raw, raw + sizeof(header));
    const Bytes payload = payload_of(header.tag, sizes[i]);
    stream.insert(stream.end(), payload.begin(), payload.end());
  }
  FrameReceiver receiver(pair.b);
  Recorder sink;
  NoEndpoint self;
  std::size_t events = 0;
  for (const std::byte byte : stream) {
    ASSERT_EQ(write(pair.a.descriptor(), &byte, 1), 1);
    ASSERT_EQ(receiver.receive(self, sink, events).code(), Code::again);
  }
  expect_packets(sink, sizes);
  EXPECT_GT(events, 0U);
}

TEST(Frames, RandomPacketsThroughATinySocketBuffer) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Pair pair;
    const int tiny = 4096;
    setsockopt(pair.a.descriptor(), SOL_SOCKET, SO_SNDBUF, &tiny, sizeof(tiny));
    FrameSender sender(pair.a);
    FrameReceiver receiver(pair.b);
    Recorder sink;
    NoEndpoint self;
    const auto sizes = random_sizes(random, 60);
    std::vector<Bytes> payloads;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      payloads.push_back(payload_of(static_cast<std::int64_t>(i), sizes[i]));
    Completion done;
    std::size_t events = 0;
    std::size_t next = 0;
    int taken = 0;
    int finished = 0;
    while (sink.packets.size() < sizes.size() || sink.landing) {
      if (next < sizes.size()) {
        const auto status = sender.post(header_of(static_cast<std::int64_t>(next), sizes[next]),
                                        {payloads[next].data(), sizes[next]}, &done, random() % 2 == 0);
        ASSERT_FALSE(status.failed());
        if (status.code() != Code::again) ++next;
        if (status.code() == Code::in_progress) ++taken;
      }
      if (random() % 3 == 0 || next == sizes.size()) {
        sender.begin_pass();
        ASSERT_FALSE(sender.write_out().failed());
      }
      if (sender.take_finished() != nullptr) ++finished;
      ASSERT_FALSE(receiver.receive(self, sink, events).failed());
    }
    if (sender.take_finished() != nullptr) ++finished;
    EXPECT_EQ(finished, taken) << "a completion for each packet that was in progress";
    EXPECT_TRUE(sender.empty());
    expect_packets(sink, sizes);
  }
}

TEST(FrameReceiver, AnImpossibleLengthEndsTheLink) {
  Pair pair;
  PacketHeader header = header_of(0, 0);
  header.payload_bytes = max_payload_bytes + 1;
  ASSERT_EQ(write(pair.a.descriptor(), &header, sizeof(header)), static_cast<ssize_t>(sizeof(header)));
  FrameReceiver receiver(pair.b);
  Recorder sink;
  NoEndpoint self;
  std::size_t events = 0;
  EXPECT_EQ(receiver.receive(self, sink, events).code(), Code::protocol_violation);
  EXPECT_TRUE(sink.packets.empty());
}

// Lengths of 2^32 for the packet and 2^63 for its message: nothing is made room for.
TEST(FrameReceiver, AClaimedLengthAllocatesNothing) {
  Pair pair;
  PacketHeader header = header_of(0, 0);
  header.payload_bytes = UINT32_MAX;
  header.message_bytes = std::uint64_t{1} << 63;
  ASSERT_EQ(write(pair.a.descriptor(), &header, sizeof(header)), static_cast<ssize_t>(sizeof(header)));
  FrameReceiver receiver(pair.b);
  Recorder sink;
  NoEndpoint self;
  std::size_t events = 0;
  const std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  EXPECT_EQ(receiver.receive(self, sink, events).code(), Code::protocol_violation);
  EXPECT_LE(mallinfo2().uordblks + mallinfo2().hblkhd, before + 1024);
}

TEST(FrameReceiver, EndOfStreamIsADeath) {
  Pair pair;
  pair.a = {};
  FrameReceiver receiver(pair.b);
  Recorder sink;
  NoEndpoint self;
  std::size_t events = 0;
  EXPECT_EQ(receiver.receive(self, sink, events), base::Status(Code::peer_died));
}

TEST(FrameSender, AClosedSocketIsADeath) {
  Pair pair;
  pair.b = {};
  FrameSender sender(pair.a);
  const auto status = sender.post(header_of(0, 0), {}, nullptr, true);
  EXPECT_EQ(status.code(), Code::peer_died);
  EXPECT_EQ(status.native(), EPIPE);
}

TEST(FrameSender, SmallPacketsGatherUntilTheyAreFlushed) {
  Pair pair;
  FrameSender sender(pair.a);
  const Bytes payload = payload_of(0, 8);
  for (int i = 0; i < 50; ++i)
    ASSERT_TRUE(sender.post(header_of(i, 8), {payload.data(), 8}, nullptr, false).ok());
  std::array<std::byte, 8192> in;
  EXPECT_LT(recv(pair.b.descriptor(), in.data(), in.size(), MSG_DONTWAIT), 0) << "nothing has left yet";
  EXPECT_TRUE(sender.write_out().ok());
  EXPECT_EQ(recv(pair.b.descriptor(), in.data(), in.size(), MSG_DONTWAIT), 50 * 40) << "all in one write";
}

// Bytes that have come until nothing more does.
std::size_t bytes_at(const socket::Connection& connection) {
  std::array<std::byte, 65536> in;
  std::size_t total = 0;
  for (ssize_t got = 0; (got = recv(connection.descriptor(), in.data(), in.size(), MSG_DONTWAIT)) > 0;)
    total += static_cast<std::size_t>(got);
  return total;
}

constexpr std::size_t most_padding_bytes = sizeof(PacketHeader) + most_padding_payload_bytes;

// Memory whose place within a page is known.
class PageOfItsOwn {
 public:
  static constexpr std::size_t page_bytes = 4096;
  explicit PageOfItsOwn(std::size_t bytes) : memory_(bytes + 2 * page_bytes) {}
  [[nodiscard]] const std::byte* at(std::size_t offset) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (page_bytes - begin % page_bytes) + offset;
  }

 private:
  Bytes memory_;
};

// Where the kernel would copy the payload of a large packet to, modulo a page, and from.
TEST(FrameSender, ALargePayloadIsNeverJustAboveItsSource) {
  constexpr std::size_t bytes = 9'000, small_bytes = 8;
  const PageOfItsOwn memory(bytes);
  for (std::size_t offset = 0; offset < PageOfItsOwn::page_bytes; offset += offset < 300 ? 1 : 97) {
    for (const int staged : {0, 1, 3}) {
      Pair pair;
      FrameSender sender(pair.a);
      const std::byte* payload = memory.at(offset);
      for (int i = 0; i < staged; ++i)
        ASSERT_TRUE(sender.post(header_of(0, small_bytes), {payload, small_bytes}, nullptr, false).ok());
      ASSERT_TRUE(sender.post(header_of(0, bytes), {payload, bytes}, nullptr, true).ok());
      const std::size_t in_front = bytes_at(pair.b) - bytes;
      const std::size_t distance = (in_front - offset) % PageOfItsOwn::page_bytes;
      EXPECT_TRUE(distance == 0 || distance >= 64) << offset << " behind " << staged;
      const std::size_t padding = in_front - static_cast<std::size_t>(staged + 1) * sizeof(PacketHeader) -
                                  static_cast<std::size_t>(staged) * small_bytes;
      EXPECT_LE(padding, most_padding_bytes);
    }
  }
}

TEST(FrameReceiver, PaddingIsNoPacket) {
  const PageOfItsOwn memory(20'000);
  Pair pair;
  FrameSender sender(pair.a);
  FrameReceiver receiver(pair.b);
  Recorder sink;
  NoEndpoint self;
  std::size_t events = 0;
  for (std::size_t offset = 0; offset < 100; ++offset) {
    ASSERT_TRUE(sender
                    .post(header_of(static_cast<std::int64_t>(offset), 9'000), {memory.at(offset), 9'000},
                          nullptr, true)
                    .ok());
    EXPECT_FALSE(receiver.receive(self, sink, events).failed());
  }
  ASSERT_EQ(sink.packets.size(), 100U);
  EXPECT_EQ(sink.landed, 0);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(sink.packets[i].header.kind, PacketKind::eager);
    EXPECT_EQ(sink.packets[i].header.tag, static_cast<std::int64_t>(i));
  }
}

TEST(FrameReceiver, PaddingIsShort) {
  for (const std::uint32_t bytes : {most_padding_payload_bytes, most_padding_payload_bytes + 1, 100'000U}) {
    Pair pair;
    PacketHeader header{.kind = padding_kind};
    header.payload_bytes = bytes;
    ASSERT_EQ(write(pair.a.descriptor(), &header, sizeof(header)), static_cast<ssize_t>(sizeof(header)));
    FrameReceiver receiver(pair.b);
    Recorder sink;
    NoEndpoint self;
    std::size_t events = 0;
    const base::Status status = receiver.receive(self, sink, events);
    EXPECT_EQ(status.code(), bytes == most_padding_payload_bytes ? Code::again : Code::protocol_violation);
    EXPECT_EQ(events, 0U);
    EXPECT_TRUE(sink.packets.empty());
  }
}

constexpr bool padding_is_bounded() {
  for (std::size_t payload = 0; payload < 4096; ++payload)
    if (padding_bytes(sizeof(PacketHeader), payload) > most_padding_bytes) return false;
  return true;
}
static_assert(padding_is_bounded());

TEST(FrameSender, LargePacketsLeaveInPasses) {
  constexpr std::size_t header = sizeof(PacketHeader), first = FrameSender::pass_bytes - 1000,
                        second = 20'000;
  Pair pair;
  FrameSender sender(pair.a);
  const PageOfItsOwn memory(FrameSender::pass_bytes);
  const std::byte* payload = memory.at(header);  // lies well without padding
  base::Status status = sender.post(header_of(0, first), {payload, first}, nullptr, true);
  std::size_t come = bytes_at(pair.b);
  for (; status.code() == Code::in_progress; come += bytes_at(pair.b)) status = sender.write_out();
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(come, header + first);

  Completion done;
  status = sender.post(header_of(1, second), {payload, second}, &done, true);
  EXPECT_EQ(status.code(), Code::in_progress);
  EXPECT_EQ(sender.write_out().code(), Code::in_progress);
  EXPECT_EQ(bytes_at(pair.b), header + 1000) << "what was left of the pass";
  EXPECT_TRUE(sender.has_used_pass());
  sender.begin_pass();
  EXPECT_FALSE(sender.has_used_pass());
  EXPECT_TRUE(sender.write_out().ok());
  EXPECT_EQ(sender.take_finished(), &done);
  EXPECT_EQ(bytes_at(pair.b), second - 1000);
}

}  // namespace
}  // namespace parley::transport
