// Large messages out of the sender's arena: who copies them, from where, and what may come between.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <string>

#include "tests/unit/shm/child.h"
#include "tests/unit/shm/pulling_world.h"

namespace parley::transport::shm::testing {
namespace {

using base::Code;
using base::Status;

constexpr std::size_t many_pieces = 3 << 20;

// Two or three processes, of which number 0 has shown the others its first segment.
class ArenaPulling : public WatchedReads {
 protected:
  static PullingWorld make_world(std::size_t size, bool with_cross_memory) {
    reads = {};
    return PullingWorld({size, with_cross_memory ? CrossMemory::create(watched_read) : nullptr}, 8 << 10,
                        true);
  }
  static void show(PullingWorld& world, std::span<const std::byte> memory) {
    for (std::uint32_t to = 1; to < world.arenas.size(); ++to) world.show(to, memory);
    reads = {};
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
    const SharedBytes out(world.arenas[0].get(), many_pieces);
    show(world, out.all());
    Bytes in(many_pieces);
    Request* send = world.send(0, 1, 7, out.all());
    Request& receive = world.receive(1, 0, 7, in);
    for (int i = 0; i < 100 && receive.state != RequestState::done; ++i) world.step(1);
    EXPECT_EQ(receive.state, RequestState::done);
    EXPECT_EQ(send->state, RequestState::offered) << "the sender has done nothing for it";
    world.finish(*send);
    EXPECT_TRUE(receive.status.ok() && send->status.ok());
    EXPECT_TRUE(is_same(in, out.all()));
    EXPECT_EQ(reads.count, 0);
    EXPECT_NE(describe(world, 1, 0).find("we read its arena"), std::string::npos);
  }
}

TEST_F(ArenaPulling, PartsOfATensorAndOthersOfItsSegmentGoTheSameWay) {
  PullingWorld world = make_world(2, true);
  const SharedBytes small(world.arenas[0].get(), 20'000, 2), out(world.arenas[0].get(), 1'000'000);
  show(world, out.all());
  for (const auto& part : {out.all().subspan(1, 100'001), out.all().last(9'000), small.all()}) {
    Bytes in(part.size());
    world.send(0, 1, 7, part);
    world.finish(world.receive(1, 0, 7, in));
    EXPECT_TRUE(is_same(in, part));
  }
  EXPECT_EQ(reads.count, 0);
}

TEST_F(ArenaPulling, WhatLiesElsewhereIsReadAcross) {
  PullingWorld world = make_world(2, true);
  const SharedBytes out(world.arenas[0].get(), many_pieces);
  show(world, out.all());
  const Bytes elsewhere(out.all().begin(), out.all().end());
  Bytes in(many_pieces);
  world.send(0, 1, 7, elsewhere);
  world.finish(world.receive(1, 0, 7, in));
  EXPECT_TRUE(is_same(in, elsewhere));
  EXPECT_GT(reads.count, 0);
}

// A segment that is shown while another message is read across.
TEST_F(ArenaPulling, AMessageOnTheSocketIsNoEndOfThePeer) {
  PullingWorld world = make_world(2, true);
  const SharedBytes shown(world.arenas[0].get(), 10'000);
  const Bytes out(many_pieces, std::byte{7});
  Bytes in(many_pieces);
  Request* send = world.send(0, 1, 7, out);
  Request& receive = world.receive(1, 0, 7, in);
  begin_pull(world, receive);
  world.send(0, 1, 8, shown.all());
  for (int i = 0; i < 100; ++i) world.step(1);
  EXPECT_EQ(receive.state, RequestState::done);
  EXPECT_EQ(send->state, RequestState::offered) << "the link has brought it";
  EXPECT_EQ(in, out);
}

TEST_F(ArenaPulling, APeerThatCannotMapItGetsTheMessageAllTheSame) {
  EXPECT_EQ(in_child([] {
              for (const bool with_cross_memory : {false, true}) {
                PullingWorld world = make_world(2, with_cross_memory);
                const SharedBytes out(world.arenas[0].get(), many_pieces);
                rlimit usual{};
                getrlimit(RLIMIT_NOFILE, &usual);
                const rlimit few{3, usual.rlim_max};
                setrlimit(RLIMIT_NOFILE, &few);
                for (int message = 0; message < 3; ++message) {
                  Bytes in(many_pieces);
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
                expect((reads.count != 0) == with_cross_memory, "the next best way");
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
  const SharedBytes out(world.arenas[0].get(), many_pieces);
  show(world, out.all());
  Mover& mover = *world.messengers[1]->peer(0).mover;
  constexpr std::size_t some = 64 << 10;  // not read at once
  Bytes in(some);
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
  EXPECT_EQ(pull({.offset = 0}, some), Code::in_progress);
  EXPECT_EQ(pull({.offset = size - some}, some), Code::in_progress);
  for (const std::uint64_t offset : {size - some + 1, size, size + 1, most, most - some + 1, most / 2})
    EXPECT_EQ(pull({.offset = offset}, some), Code::unreachable) << offset;
  EXPECT_EQ(pull({}, std::numeric_limits<std::size_t>::max()), Code::unreachable);
  for (const std::uint32_t segment : {1U, most_arena_segments, ~0U})
    EXPECT_EQ(pull({.segment = segment}, 1), Code::unreachable) << segment;
  for (const std::uint32_t where : {0U, 2U, ~0U})
    EXPECT_EQ(pull({.where = where}, 1), Code::unreachable) << "there is no cross-memory copy " << where;
  EXPECT_EQ(pull({.offer = {board_words, 1}}, 1), Code::unreachable);
  EXPECT_EQ(pull({.offer = {~0U, 1}}, 1), Code::unreachable);
}

}  // namespace
}  // namespace parley::transport::shm::testing
