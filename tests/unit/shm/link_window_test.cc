// Links and the windows of their processes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "tests/unit/shm/pass_descriptors.h"
#include "tests/unit/shm/ring.h"
#include "transport/shm/shm_link.h"

namespace parley::transport {
namespace {

using base::Code;
using base::Status;
using base::UniqueFd;

constexpr int many_passes = 100'000;

// Keeps what arrives.
struct Inbox final : PacketSink {
  void on_link(PeerId, Endpoint&) noexcept override {}
  void on_unreachable(PeerId, Status, std::string_view) noexcept override {}
  void on_packet(Endpoint&, const PacketHeader&, std::span<const std::byte> payload) noexcept override {
    packets.emplace_back(payload.begin(), payload.end());
    if (answer) answer();
  }
  base::MemoryRef on_header(Endpoint&, const PacketHeader& header) noexcept override {
    landing.assign(header.payload_bytes, std::byte{});
    return {landing.data(), landing.size()};
  }
  void on_landed(Endpoint&, const PacketHeader&) noexcept override { packets.push_back(landing); }
  void on_writable(Endpoint&) noexcept override { writable = true; }
  void on_closed(Endpoint&, Status) noexcept override {}

  std::deque<std::vector<std::byte>> packets;
  std::vector<std::byte> landing;
  std::function<void()> answer;  // said on each whole packet
  bool writable = true;
};

struct Sent : Completion {
  Sent() {
    fn = [](Completion& done, Status) noexcept { static_cast<Sent&>(done).is_out = false; };
  }
  bool is_out = false;
};

UniqueFd copy_of(int descriptor) {
  return UniqueFd(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
}

constexpr shm::RingShape shape{.cells = 64, .payload_bytes = 32 << 10};

// One process: what its links share.
struct Process {
  explicit Process(shm::WindowPlan plan) : windows(plan) {}
  shm::WindowPool windows;
  ShmLinkLists lists;
  shm::OwnBell bell = shm::OwnBell::create().value();
};

// One end of a link, and the records that it has sent and received.
struct End {
  End(Process& its_process, shm::Acquaintance acquaintance)
      : process(its_process), link(std::move(acquaintance), inbox, process.lists, process.windows) {}

  // What its transport does.
  void step() {
    pollfd socket{link.socket().get(), POLLIN, 0};
    if (!link.peer_has_ended() && ::poll(&socket, 1, 0) == 1) link.look_at_peer();
    (void)link.receive();
    (void)link.use_room();
  }

  bool try_send(std::uint64_t number, std::size_t bytes) {
    if (!inbox.writable || sent.is_out) return false;
    payload.resize(bytes);
    shm::fill_chunk(payload, number);
    PacketHeader header{.kind = PacketKind::data};
    header.payload_bytes = static_cast<std::uint32_t>(bytes);
    const Status status = link.try_send(header, {payload.data(), bytes}, &sent, Endpoint::Urgency::now);
    sent.is_out = status.code() == Code::in_progress;
    inbox.writable = status.code() != Code::again;
    if (status.ok()) std::fill(payload.begin(), payload.end(), std::byte{0xee});
    return inbox.writable && !status.failed();
  }

  Process& process;
  Inbox inbox;
  Sent sent;
  std::vector<std::byte> payload;
  ShmLink link;
};

bool is_content(const std::vector<std::byte>& packet, std::uint64_t number, std::size_t bytes) {
  std::vector<std::byte> expected(bytes);
  shm::fill_chunk(expected, number);
  return packet == expected;
}

struct Pair {
  Pair(Process& a, Process& b) {
    auto [one, other] = shm::testing::make_sockets();
    for (const UniqueFd* end : {&one, &other}) ::fcntl(end->get(), F_SETFL, O_NONBLOCK);
    ring_a = shm::Segment::create(shm::ring_bytes(shape)).value();
    ring_b = shm::Segment::create(shm::ring_bytes(shape)).value();
    left = std::make_unique<End>(a, acquaintance(std::move(one), ring_a, ring_b, b.bell));
    right = std::make_unique<End>(b, acquaintance(std::move(other), ring_b, ring_a, a.bell));
  }

  static shm::Acquaintance acquaintance(UniqueFd socket, const shm::Segment& out, const shm::Segment& in,
                                        const shm::OwnBell& bell) {
    shm::Acquaintance made;
    made.socket = std::move(socket);
    made.out = shm::Segment::attach(copy_of(out.fd()), shm::ring_bytes(shape)).value();
    made.in = shm::Segment::attach(copy_of(in.fd()), shm::ring_bytes(shape)).value();
    made.out_shape = made.in_shape = shape;
    made.bell = shm::PeerBell::attach(copy_of(bell.page()), copy_of(bell.event())).value();
    return made;
  }

  // Sends one packet from left to right, and compares it.
  void send(std::uint64_t number, std::size_t bytes) {
    int passes = 0;
    while (!left->try_send(number, bytes) && ++passes < many_passes) step();
    while (right->inbox.packets.empty() && ++passes < many_passes) step();
    ASSERT_LT(passes, many_passes) << "packet " << number << " of " << bytes << " bytes does not arrive";
    EXPECT_TRUE(is_content(right->inbox.packets.front(), number, bytes)) << number << ' ' << bytes;
    right->inbox.packets.pop_front();
  }
  void step() {
    left->step();
    right->step();
  }

  shm::Segment ring_a, ring_b;
  std::unique_ptr<End> left, right;
};

constexpr shm::WindowPlan small_plan{.bytes = 128 << 10, .most = 1, .busy_bytes = 100'000};

TEST(LinkWindow, ABusyLinkGetsOne) {
  Process a(small_plan), b(small_plan);
  Pair pair(a, b);
  for (std::uint64_t number = 0; number < 4; ++number) pair.send(number, 20'000);
  EXPECT_EQ(a.windows.made(), 0U) << "not before it is busy";
  for (std::uint64_t number = 0; number < 20; ++number) pair.send(number, 3'000);
  EXPECT_EQ(a.windows.made(), 0U) << "and not for small messages";
  for (std::uint64_t number = 0; number < 4; ++number) pair.send(number, 20'000);
  ASSERT_EQ(a.windows.made(), 1U);
  EXPECT_EQ(b.windows.made(), 0U) << "who only receives needs none";
  // The window is used: what is sent lies there.
  std::vector<std::byte> expected(5'000);
  shm::fill_chunk(expected, 77);
  pair.send(77, 5'000);
  const shm::Segment& memory = a.windows.memory(0);
  EXPECT_NE(std::search(memory.data(), memory.data() + memory.size(), expected.begin(), expected.end()),
            memory.data() + memory.size());
}

TEST(LinkWindow, AFullRingDoesNotMakeALinkAskForTwo) {
  Process a({.bytes = 128 << 10, .most = 2, .busy_bytes = 0}), b(small_plan);
  Pair pair(a, b);
  std::uint64_t sent = 0;
  while (pair.left->try_send(sent, 6'000)) ++sent;  // the first one offers a window; nobody answers yet
  for (std::uint64_t number = 0; number < sent; ++number) {
    while (pair.right->inbox.packets.empty()) pair.step();
    EXPECT_TRUE(is_content(pair.right->inbox.packets.front(), number, 6'000));
    pair.right->inbox.packets.pop_front();
  }
  for (std::uint64_t number = sent; number < sent + 20; ++number) pair.send(number, 6'000);
  EXPECT_EQ(a.windows.made(), 1U);
}

TEST(LinkWindow, WithoutOneEverythingGoesThroughTheRing) {
  Process a({.bytes = 64 << 10, .most = 0, .busy_bytes = 0}), b(small_plan);
  Pair pair(a, b);
  for (std::uint64_t number = 0; number < 20; ++number) pair.send(number, 1 + number * 50'001);
  EXPECT_EQ(a.windows.made(), 0U);
}

// Sizes of all kinds, in both directions at once, with windows that are much smaller than the packets.
TEST(LinkWindow, RandomTrafficBothWays) {
  const auto seed = std::random_device()();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  Process a(small_plan), b(small_plan);
  Pair pair(a, b);
  struct Flow {
    End& from;
    End& to;
    std::deque<std::size_t> sizes;
    std::size_t next = 0;
    std::uint64_t received = 0;
  };
  Flow flows[] = {{*pair.left, *pair.right, {}}, {*pair.right, *pair.left, {}}};
  for (Flow& flow : flows)
    for (int i = 0; i < 400; ++i) flow.sizes.push_back(random() % (random() % 2 == 0 ? 5'000 : 300'000));
  const auto is_over = [](const Flow& flow) { return flow.received == flow.sizes.size(); };
  for (int pass = 0; pass < many_passes && !(is_over(flows[0]) && is_over(flows[1])); ++pass) {
    for (Flow& flow : flows) {
      if (random() % 2 == 0 && flow.next < flow.sizes.size() &&
          flow.from.try_send(flow.next, flow.sizes[flow.next]))
        ++flow.next;
      if (random() % 2 == 0) flow.from.step();
      for (auto& packets = flow.to.inbox.packets; !packets.empty(); packets.pop_front(), ++flow.received)
        ASSERT_TRUE(is_content(packets.front(), flow.received, flow.sizes[flow.received])) << flow.received;
    }
  }
  EXPECT_TRUE(is_over(flows[0]) && is_over(flows[1]));
  EXPECT_EQ(a.windows.made() + b.windows.made(), 2U);
}

// Else whole windows would lie between the two, more than caches keep.
TEST(LinkWindow, WhoHasSomethingToReadWritesAndReadsInTurns) {
  constexpr std::size_t large = max_payload_bytes;
  Process a({.busy_bytes = 0}), b({.busy_bytes = 0});
  Pair pair(a, b);
  End& left = *pair.left;
  End& right = *pair.right;
  for (End* from : {&left, &right}) {  // each has its window then
    for (std::uint64_t number = 0; number < 2; ++number) {
      ASSERT_TRUE(from->try_send(number, 20'000));
      for (int i = 0; i < 4; ++i) pair.step();
    }
  }
  ASSERT_TRUE(left.try_send(2, large));
  EXPECT_FALSE(left.sent.is_out) << "there is nothing to read, and room for all of it";
  ASSERT_TRUE(right.try_send(2, large));
  EXPECT_TRUE(right.sent.is_out);
  (void)right.link.use_room();
  EXPECT_TRUE(right.sent.is_out) << "it has not read";
  int turns = 0;
  for (; right.sent.is_out; ++turns) {
    ASSERT_LT(turns, 100);
    EXPECT_EQ(right.inbox.packets.size(), 2U) << "it does not read all at once";
    (void)right.link.receive();
    (void)right.link.use_room();
  }
  EXPECT_GE(turns, 2);
  for (int i = 0; i < 10; ++i) pair.step();
  for (const End* to : {&left, &right}) {
    ASSERT_EQ(to->inbox.packets.size(), 3U);
    EXPECT_TRUE(is_content(to->inbox.packets[2], 2, large));
  }
}

// One window for five links: it goes to whoever sends.
TEST(LinkWindow, GoesFromLinkToLink) {
  Process a({.bytes = 128 << 10, .most = 1, .busy_bytes = 0}), b(small_plan);
  std::vector<std::unique_ptr<Pair>> pairs;
  for (int i = 0; i < 5; ++i) pairs.push_back(std::make_unique<Pair>(a, b));
  const auto seed = std::random_device()();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (std::uint64_t number = 0; number < 500; ++number)
    pairs[random() % pairs.size()]->send(number, random() % 100'000);
  EXPECT_EQ(a.windows.made(), 1U);
}

// Fills the window of one link, whose reader does not read; then another link sends.
TEST(LinkWindow, IsNotTakenWhileItIsRead) {
  for (const bool closes : {false, true}) {
    SCOPED_TRACE(closes);
    Process a({.bytes = 128 << 10, .most = 1, .busy_bytes = 0}), b(small_plan), c(small_plan);
    Pair slow(a, b), other(a, c);
    for (std::uint64_t number = 0; number < 4; ++number) {
      slow.send(number, 20'000);
      other.send(number, 20'000);
    }
    slow.send(4, 20'000);
    ASSERT_TRUE(slow.left->try_send(5, 20'000));
    if (closes) slow.left->link.close();
    for (std::uint64_t number = 0; number < 20; ++number) other.send(number, 60'000);
    for (int pass = 0; pass < 100; ++pass) slow.right->step();
    ASSERT_EQ(slow.right->inbox.packets.size(), 1U);
    EXPECT_TRUE(is_content(slow.right->inbox.packets.front(), 5, 20'000));
    EXPECT_EQ(a.windows.made(), 1U);
  }
}

TEST(LinkWindow, IsFreeWhenItsLinkHasClosed) {
  Process a({.bytes = 128 << 10, .most = 1, .busy_bytes = 0}), b(small_plan);
  const auto place = [&] {
    Pair pair(a, b);
    for (std::uint64_t number = 0; number < 4; ++number) pair.send(number, 20'000);
    pair.step();
    pair.left->link.close();
    return a.windows.generation(0);
  };
  const auto first = place();
  EXPECT_EQ(place(), first) << "nobody was reading: it is the same";
}

TEST(LinkWindow, AWindowThatWasNeverShownEndsTheLink) {
  for (const std::uint32_t place : {0U, 1U, 4U, ~0U}) {
    Process a(small_plan), b(small_plan);
    Pair pair(a, b);
    shm::RingWriter forger(pair.ring_a.data(), shape);
    PacketHeader header;
    header.id = place;
    ASSERT_TRUE(forger.try_write(shm::RecordKind::moved, header, {}, shm::Share::data));
    (void)pair.right->link.receive();
    EXPECT_EQ(pair.right->link.reason().code(), Code::protocol_violation);
  }
}

TEST(LinkWindow, AChunkInAWindowThatIsNotThereEndsTheLink) {
  Process a(small_plan), b(small_plan);
  Pair pair(a, b);
  auto* cell = shm::RingParts(pair.ring_a.data(), shape).cells;
  cell->header.payload_bytes = 5'000;
  cell->word = shm::pack_word(1, shm::RecordKind::packet, 5'000, shm::Area::window);
  (void)pair.right->link.receive();
  EXPECT_EQ(pair.right->link.reason().code(), Code::protocol_violation);
}

// As many answers as packets tell it, before the counts of the ring do: those are on another line, which
// would have to come from the other core. Fewer answers do not.
TEST(LinkPieces, AreSmallForAReaderThatHasAnsweredAll) {
  constexpr std::size_t bytes = 16 << 10;
  for (const std::uint64_t sent_before : {1, 4}) {
    SCOPED_TRACE(sent_before);
    Process a({.bytes = 128 << 10, .most = 1, .busy_bytes = 0}), b(small_plan);
    Pair pair(a, b);
    End& left = *pair.left;
    End& right = *pair.right;
    for (std::uint64_t number = 0; number < 4; ++number) pair.send(number, 20'000);
    ASSERT_TRUE(right.try_send(0, 8));
    pair.step();

    std::size_t whole = 0;
    right.inbox.answer = [&] {
      if (++whole != 1) return;
      ASSERT_TRUE(right.try_send(0, 8));
      (void)left.link.receive();
      ASSERT_TRUE(left.try_send(9, bytes));
    };
    for (std::uint64_t number = 0; number < sent_before; ++number) ASSERT_TRUE(left.try_send(number, 8));
    (void)right.link.receive();
    ASSERT_EQ(right.inbox.packets.size(), sent_before + 1);
    EXPECT_TRUE(is_content(right.inbox.packets.back(), 9, bytes));
    EXPECT_EQ(whole, sent_before + (sent_before == 1 ? 0 : 1)) << "the last one comes in pieces, or whole";
  }
}

// A fence for each record would cost as much as the record; who polls sees them all the same.
TEST(ShmLinkBell, IsLookedAtOnceForABatch) {
  Process a(small_plan), b(small_plan);
  Pair pair(a, b);
  const auto is_rung = [&b] {
    pollfd event{b.bell.event(), POLLIN, 0};
    return ::poll(&event, 1, 0) == 1;
  };
  b.bell.announce();
  const PacketHeader header{.kind = PacketKind::credit};
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(pair.left->link.try_send(header, {}, nullptr, Endpoint::Urgency::batch).ok());
  EXPECT_FALSE(is_rung());
  EXPECT_TRUE(pair.right->link.has_next());
  ASSERT_EQ(a.lists.quiet.front(), &pair.left->link);
  base::full_fence();
  pair.left->link.ring_after_fence();
  EXPECT_TRUE(is_rung());
  EXPECT_TRUE(a.lists.quiet.empty());

  b.bell.cancel();
  b.bell.announce();
  ASSERT_TRUE(pair.left->link.try_send(header, {}, nullptr, Endpoint::Urgency::batch).ok());
  ASSERT_TRUE(pair.left->link.try_send(header, {}, nullptr, Endpoint::Urgency::now).ok());
  EXPECT_TRUE(is_rung()) << "who cannot wait looks for all";
  EXPECT_TRUE(a.lists.quiet.empty());
  b.bell.cancel();
}

}  // namespace
}  // namespace parley::transport
