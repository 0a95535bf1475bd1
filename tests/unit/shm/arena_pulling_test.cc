// Large messages out of the sender's arena: who copies them, from where, and what may come between.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>

#include "tests/unit/shm/child.h"
#include "tests/unit/shm/pulling_world.h"

namespace parley::transport::shm::testing {
namespace {

using base::Code;
using base::Status;

constexpr std::size_t large = 3 << 20;  // many pieces

int reads = 0;  // by cross-memory copies

Status counted_read(pid_t process, std::uint64_t address, base::MemoryRef into) noexcept {
  ++reads;
  return read_process_memory(process, address, into);
}

// What a tensor in the arena is.
struct Shared {
  Shared(Arena& arena, std::size_t size, int salt = 1) : memory(arena.allocate(size).value()), bytes(size) {
    for (std::size_t i = 0; i < bytes; ++i)
      memory.get()[i] = static_cast<std::byte>(i * 31 + (i >> 9) * 7 + static_cast<std::size_t>(salt) * 101);
  }
  [[nodiscard]] std::span<std::byte> all() const { return {memory.get(), bytes}; }
  std::shared_ptr<std::byte> memory;
  std::size_t bytes;
};

bool is_same(std::span<const std::byte> one, std::span<const std::byte> other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end());
}

// Two or three processes, of which number 0 has shown the others its first segment.
class ArenaPulling : public ::testing::Test {
 protected:
  static PullingWorld make_world(std::size_t size, bool with_cross_memory) {
    reads = 0;
    return PullingWorld({size, with_cross_memory ? CrossMemory::create(counted_read) : nullptr}, 8 << 10,
                        true);
  }
  static void show(PullingWorld& world, std::span<const std::byte> memory) {
    for (std::uint32_t to = 1; to < world.arenas.size(); ++to) {
      Bytes in(memory.size());
      Request* send = world.send(0, to, 99, memory);
      world.finish(world.receive(to, 0, 99, in));
      world.finish(*send);
      ASSERT_TRUE(is_same(in, memory)) << "before the segment is mapped, too";
      world.run_until([&] { return describe(world, 0, to).find("it reads our arena") != std::string::npos; });
    }
    reads = 0;
  }
  static std::string describe(PullingWorld& world, std::uint32_t at, std::uint32_t of) {
    return world.messengers[at]->peer(of).mover->describe();
  }
  // Until the receive has some of its bytes and not all.
  static void begin_pull(PullingWorld& world, const Request& receive) {
    world.run_until([&] { return receive.state == RequestState::moving; });
    world.step(1);
    ASSERT_EQ(receive.state, RequestState::moving);
  }
};

TEST_F(ArenaPulling, TheReceiverCopiesAloneAndWithoutTheKernel) {
  for (const bool with_cross_memory : {false, true}) {
    PullingWorld world = make_world(2, with_cross_memory);
    const Shared out(*world.arenas[0], large);
    show(world, out.all());
    Bytes in(large);
    Request* send = world.send(0, 1, 7, out.all());
    Request& receive = world.receive(1, 0, 7, in);
    for (int i = 0; i < 100 && receive.state != RequestState::done; ++i) world.step(1);
    EXPECT_EQ(receive.state, RequestState::done);
    EXPECT_EQ(send->state, RequestState::offered) << "the sender has done nothing for it";
    world.finish(*send);
    EXPECT_TRUE(receive.status.ok() && send->status.ok());
    EXPECT_TRUE(is_same(in, out.all()));
    EXPECT_EQ(reads, 0);
    EXPECT_NE(describe(world, 1, 0).find("we read its arena"), std::string::npos);
  }
}

TEST_F(ArenaPulling, PartsOfATensorAndOthersOfItsSegmentGoTheSameWay) {
  PullingWorld world = make_world(2, true);
  const Shared small(*world.arenas[0], 20'000, 2), out(*world.arenas[0], 1'000'000);
  show(world, out.all());
  for (const auto& part : {out.all().subspan(1, 100'001), out.all().last(9'000), small.all()}) {
    Bytes in(part.size());
    world.send(0, 1, 7, part);
    world.finish(world.receive(1, 0, 7, in));
    EXPECT_TRUE(is_same(in, part));
  }
  EXPECT_EQ(reads, 0);
}

TEST_F(ArenaPulling, WhatLiesElsewhereIsReadAcross) {
  PullingWorld world = make_world(2, true);
  const Shared out(*world.arenas[0], large);
  show(world, out.all());
  const Bytes elsewhere(out.all().begin(), out.all().end());
  Bytes in(large);
  world.send(0, 1, 7, elsewhere);
  world.finish(world.receive(1, 0, 7, in));
  EXPECT_TRUE(is_same(in, elsewhere));
  EXPECT_GT(reads, 0);
}

// A segment that is shown while another message is read across.
TEST_F(ArenaPulling, AMessageOnTheSocketIsNoEndOfThePeer) {
  PullingWorld world = make_world(2, true);
  const Shared shown(*world.arenas[0], 10'000);
  const Bytes out(large, std::byte{7});
  Bytes in(large);
  Request* send = world.send(0, 1, 7, out);
  Request& receive = world.receive(1, 0, 7, in);
  begin_pull(world, receive);
  world.send(0, 1, 8, shown.all());
  for (int i = 0; i < 100; ++i) world.step(1);
  EXPECT_EQ(receive.state, RequestState::done);
  EXPECT_EQ(send->state, RequestState::offered) << "the link has brought it";
  EXPECT_EQ(in, out);
}

TEST_F(ArenaPulling, OthersAreServedBetweenThePieces) {
  PullingWorld world = make_world(3, false);
  const Shared out(*world.arenas[0], large);
  show(world, out.all());
  const Bytes word(8, std::byte{5});
  Bytes in(large), heard(8);
  world.send(0, 1, 7, out.all());
  Request& pulled = world.receive(1, 0, 7, in);
  begin_pull(world, pulled);
  Request& small = world.receive(1, 2, 8, heard);
  EXPECT_EQ(world.send(2, 1, 8, word), nullptr);
  world.step(1);
  EXPECT_EQ(small.state, RequestState::done);
  EXPECT_EQ(pulled.state, RequestState::moving);
  world.finish(pulled);
  EXPECT_TRUE(is_same(in, out.all()));
}

TEST_F(ArenaPulling, ASendThatIsTakenBackMeanwhileIsNotReceived) {
  PullingWorld world = make_world(2, false);
  const Shared out(*world.arenas[0], large);
  show(world, out.all());
  Bytes in(large);
  Request* send = world.send(0, 1, 7, out.all());
  Request& receive = world.receive(1, 0, 7, in);
  begin_pull(world, receive);
  ASSERT_TRUE(world.messengers[0]->cancel(*send, Code::cancelled));
  std::memset(out.memory.get(), 0xee, large);  // the caller's again
  for (int i = 0; i < 100; ++i) {
    world.step(1);
    world.step(0);
  }
  EXPECT_EQ(receive.state, RequestState::posted) << "it is back in its place";
  const Shared next(*world.arenas[0], large, 2);
  world.send(0, 1, 7, next.all());
  world.finish(receive);
  EXPECT_TRUE(receive.status.ok());
  EXPECT_TRUE(is_same(in, next.all()));
}

TEST_F(ArenaPulling, ALinkThatIsClosedBySenderHandsOutNothing) {
  PullingWorld world = make_world(2, false);
  const Shared out(*world.arenas[0], large);
  show(world, out.all());
  Bytes in(large);
  Request* send = world.send(0, 1, 7, out.all());
  Request& receive = world.receive(1, 0, 7, in);
  begin_pull(world, receive);
  world.transports[0]->close();
  while (world.step(0) != 0) {
  }
  ASSERT_EQ(send->state, RequestState::done);
  EXPECT_TRUE(send->status.failed());
  std::memset(out.memory.get(), 0xee, large);
  world.finish(receive);
  EXPECT_TRUE(receive.status.failed()) << "what was read may be another thing";
}

TEST_F(ArenaPulling, APeerThatCannotMapItGetsTheMessageAllTheSame) {
  EXPECT_EQ(in_child([] {
              for (const bool with_cross_memory : {false, true}) {
                PullingWorld world = make_world(2, with_cross_memory);
                const Shared out(*world.arenas[0], large);
                rlimit usual{};
                getrlimit(RLIMIT_NOFILE, &usual);
                const rlimit few{3, usual.rlim_max};
                setrlimit(RLIMIT_NOFILE, &few);
                for (int message = 0; message < 3; ++message) {
                  Bytes in(large);
                  Request* send = world.send(0, 1, 7, out.all());
                  world.finish(world.receive(1, 0, 7, in));
                  world.finish(*send);
                  expect(is_same(in, out.all()), "another content");
                  for (int i = 0; i < 3000; ++i) world.step(1);
                  for (int i = 0; i < 3000; ++i) world.step(0);
                }
                setrlimit(RLIMIT_NOFILE, &usual);
                const std::string text = describe(world, 0, 1);
                expect(text.find("it cannot map all of our arena") != std::string::npos, text);
                expect((reads != 0) == with_cross_memory, "the next best way");
              }
              return std::string();
            }),
            "");
}

// What a hostile sender writes into a key: nothing outside the mapping is read, and the link brings the data.
TEST_F(ArenaPulling, KeysThatNameOtherMemoryAreNotFollowed) {
  struct Key {
    std::uint64_t offset = 0;
    OfferToken offer{0, 1};
    std::uint32_t where = 1;
    std::uint32_t segment = 0;
  };
  PullingWorld world = make_world(2, false);
  const Shared out(*world.arenas[0], large);
  show(world, out.all());
  Mover& mover = *world.messengers[1]->peer(0).mover;
  Bytes in(4096);
  const auto pull = [&](const Key& key, std::size_t bytes) {
    RemoteKey remote;
    static_assert(sizeof(key) == sizeof(remote));
    std::memcpy(remote.bytes.data(), &key, sizeof(key));
    Completion done{[](Completion&, Status) noexcept { ADD_FAILURE() << "it was read"; }};
    const Status status = mover.pull(remote, {in.data(), bytes}, done);
    if (status.code() == Code::in_progress) mover.stop(done);
    return status.code();
  };
  const std::uint64_t size = world.arenas[0]->segment(0).size();
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(pull({.offset = 0}, 4096), Code::in_progress);
  EXPECT_EQ(pull({.offset = size - 4096}, 4096), Code::in_progress);
  for (const std::uint64_t offset : {size - 4095, size, size + 1, most, most - 4095, most / 2})
    EXPECT_EQ(pull({.offset = offset}, 4096), Code::unreachable) << offset;
  EXPECT_EQ(pull({}, std::numeric_limits<std::size_t>::max()), Code::unreachable);
  for (const std::uint32_t segment : {1U, most_arena_segments, ~0U})
    EXPECT_EQ(pull({.segment = segment}, 1), Code::unreachable) << segment;
  for (const std::uint32_t where : {0U, 2U, ~0U})
    EXPECT_EQ(pull({.where = where}, 1), Code::unreachable) << "there is no cross-memory copy " << where;
  EXPECT_EQ(pull({.offer = {board_words, 1}}, 1), Code::unreachable);
  EXPECT_EQ(pull({.offer = {~0U, 1}}, 1), Code::unreachable);
}

// Both ways, all sizes, in the arenas and elsewhere, some sends taken back.
class ArenaTraffic : public ArenaPulling, public ::testing::WithParamInterface<bool> {};

TEST_P(ArenaTraffic, BringsEveryByte) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  PullingWorld world = make_world(3, GetParam());
  struct Message {
    std::uint32_t from, to;
    Shared out;
    Bytes in;
    Request* send = nullptr;
    Request* receive = nullptr;
    bool is_withdrawn = false;
  };
  std::vector<std::unique_ptr<Message>> messages;
  const auto pick = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  for (int i = 0; i < 150; ++i) {
    const std::uint32_t from = pick(3), to = (from + 1 + pick(2)) % 3;
    const std::size_t bytes = pick(2) == 0 ? pick(20000) : pick(1 << 20);
    // In the arena of the sender, or in that of another.
    auto message = std::make_unique<Message>(
        Message{from, to, Shared(*world.arenas[pick(4) == 0 ? to : from], bytes, i), Bytes(bytes)});
    const bool receive_first = pick(2) == 0;
    if (receive_first) message->receive = &world.receive(to, from, i, message->in);
    message->send = world.send(from, to, i, message->out.all());
    for (std::uint32_t steps = pick(6); steps > 0; --steps) world.step(pick(3));
    if (!receive_first) message->receive = &world.receive(to, from, i, message->in);
    messages.push_back(std::move(message));
    Message& victim = *messages[pick(static_cast<std::uint32_t>(messages.size()))];
    if (pick(4) == 0 && victim.send != nullptr && victim.send->state != RequestState::done &&
        world.messengers[victim.from]->cancel(*victim.send, Code::cancelled)) {
      victim.is_withdrawn = true;
      std::memset(victim.out.memory.get(), 0xee, victim.out.bytes);
    }
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Message& message = *messages[i];
    if (message.is_withdrawn) {
      EXPECT_NE(message.receive->state, RequestState::done) << i;
      continue;
    }
    world.finish(*message.receive);
    if (message.send != nullptr) world.finish(*message.send);
    EXPECT_TRUE(message.receive->status.ok()) << i;
    ASSERT_TRUE(is_same(message.in, message.out.all())) << "message " << i << " of " << message.out.bytes;
  }
}

INSTANTIATE_TEST_SUITE_P(WithoutAndWithCrossMemory, ArenaTraffic, ::testing::Bool());

}  // namespace
}  // namespace parley::transport::shm::testing
