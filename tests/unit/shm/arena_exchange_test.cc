#include "transport/shm/arena_exchange.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/shm/child.h"
#include "tests/unit/shm/pass_descriptors.h"
#include "transport/shm/handover.h"

namespace parley::transport::shm {
namespace {

using base::Code;
using base::UniqueFd;
using Kind = HandoverMessage::Kind;
using Subject = HandoverMessage::Subject;

// Two processes with an arena each, and the socket between them.
struct ArenaPair {
  ArenaPair() {
    auto [one, other] = testing::make_sockets();
    for (const UniqueFd* end : {&one, &other}) ::fcntl(end->get(), F_SETFL, O_NONBLOCK);
    socket = std::move(one);
    other_socket = std::move(other);
  }
  void hear() {
    ASSERT_TRUE(handover_there.hear().ok());
    ASSERT_TRUE(handover_here.hear().ok());
  }
  std::shared_ptr<std::byte> allocate(std::size_t bytes) { return arena->allocate(bytes).value(); }

  std::shared_ptr<Arena> arena = Arena::create({.least_bytes = 64 << 10, .growth_divisor = 4});
  UniqueFd socket, other_socket;
  WindowPool windows{{}};
  ArenaExchange here{arena.get(), socket}, there{nullptr, other_socket};
  Handover handover_here{windows, here, socket}, handover_there{windows, there, other_socket};
};

TEST(ArenaExchange, ASegmentIsMappedOnceAndThenSeen) {
  ArenaPair pair;
  const auto memory = pair.allocate(10'000);
  EXPECT_FALSE(pair.here.show({memory.get(), 10'000})) << "it has not been mapped";
  EXPECT_FALSE(pair.here.show({memory.get(), 10'000}));
  pair.hear();
  EXPECT_EQ(pair.handover_there.hear().code(), Code::again) << "it is shown once";
  const auto place = pair.here.show({memory.get() + 100, 9'900});
  ASSERT_TRUE(place);
  const std::byte* seen = pair.there.look(*place, 9'900);
  ASSERT_NE(seen, nullptr);
  memory.get()[9'999] = std::byte{42};
  EXPECT_EQ(seen[9'899], std::byte{42});
  EXPECT_EQ(pair.handover_there.hear().code(), Code::again) << "no message for what lies there, too";
}

TEST(ArenaExchange, WhatThePeerHasShownCannotBeWritten) {
  ArenaPair pair;
  const auto memory = pair.allocate(10'000);
  EXPECT_FALSE(pair.here.show({memory.get(), 1}));
  pair.hear();
  const auto place = pair.here.show({memory.get(), 1});
  ASSERT_TRUE(place);
  // The kernel writes what it reads from a pipe into memory that may be written, and says so of other memory.
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd out(ends[0]), in(ends[1]);
  const auto is_writable = [&](const std::byte* where) {
    const char word = 'w';
    EXPECT_EQ(::write(in.get(), &word, 1), 1);
    if (::read(out.get(), const_cast<std::byte*>(where), 1) == 1) return true;
    EXPECT_EQ(errno, EFAULT);
    char rest = 0;
    EXPECT_EQ(::read(out.get(), &rest, 1), 1);
    return false;
  };
  EXPECT_TRUE(is_writable(memory.get()));
  const std::byte* const seen = pair.there.look(*place, 1);
  EXPECT_EQ(*seen, static_cast<std::byte>('w')) << "the same memory";
  EXPECT_FALSE(is_writable(seen));
  EXPECT_FALSE(is_writable(pair.there.look({0, pair.arena->segment(0).size() - 1}, 1)));
}

TEST(ArenaExchange, EachSegmentIsShownByItself) {
  ArenaPair pair;
  std::vector<std::shared_ptr<std::byte>> memory;
  for (int i = 0; i < 4; ++i) memory.push_back(pair.allocate(60'000));
  for (const int i : {3, 1}) {
    const auto bytes = memory[static_cast<std::size_t>(i)].get();
    EXPECT_FALSE(pair.here.show({bytes, 60'000}));
    pair.hear();
    bytes[0] = static_cast<std::byte>(i);
    const auto place = pair.here.show({bytes, 60'000});
    ASSERT_TRUE(place);
    EXPECT_EQ(*pair.there.look(*place, 60'000), static_cast<std::byte>(i));
  }
  EXPECT_FALSE(pair.here.show({memory[0].get(), 1}));
}

TEST(ArenaExchange, WhatIsElsewhereIsNotShown) {
  ArenaPair pair;
  const auto memory = pair.allocate(10'000);
  const std::vector<std::byte> elsewhere(100'000);
  EXPECT_FALSE(pair.here.show({elsewhere.data(), elsewhere.size()}));
  EXPECT_FALSE(pair.there.show({memory.get(), 1})) << "who has no arena shows nothing";
  EXPECT_EQ(pair.handover_there.hear().code(), Code::again);
  EXPECT_EQ(pair.handover_here.hear().code(), Code::again);
}

TEST(ArenaExchange, NothingBeyondWhatWasShownIsSeen) {
  ArenaPair pair;
  const auto memory = pair.allocate(10'000);
  EXPECT_EQ(pair.there.look({0, 0}, 0), nullptr);
  (void)pair.here.show({memory.get(), 1});
  pair.hear();
  const std::uint64_t size = pair.arena->segment(0).size();
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_NE(pair.there.look({0, 0}, size), nullptr);
  EXPECT_NE(pair.there.look({0, size - 1}, 1), nullptr);
  EXPECT_EQ(pair.there.look({0, 0}, size + 1), nullptr);
  EXPECT_EQ(pair.there.look({0, 0}, most), nullptr);
  EXPECT_EQ(pair.there.look({0, 1}, size), nullptr);
  EXPECT_EQ(pair.there.look({0, size}, 1), nullptr);
  EXPECT_EQ(pair.there.look({0, size + 1}, 0), nullptr);
  EXPECT_EQ(pair.there.look({0, most}, 1), nullptr);
  EXPECT_EQ(pair.there.look({0, most}, most), nullptr);
  EXPECT_EQ(pair.there.look({0, most - 63}, 128), nullptr);
  for (const std::uint32_t segment : {1U, most_arena_segments - 1, most_arena_segments, ~0U})
    EXPECT_EQ(pair.there.look({segment, 0}, 1), nullptr);
}

TEST(ArenaExchange, WithoutADescriptorToSpareItIsRefusedAndNotShownAgain) {
  EXPECT_EQ(testing::in_child([] {
              ArenaPair pair;
              const auto memory = pair.allocate(10'000);
              (void)pair.here.show({memory.get(), 1});
              rlimit few{};
              getrlimit(RLIMIT_NOFILE, &few);
              few.rlim_cur = 3;
              setrlimit(RLIMIT_NOFILE, &few);
              testing::expect(pair.handover_there.hear().ok(), "the link ended");
              testing::expect(pair.there.look({0, 0}, 1) == nullptr, "a segment without a descriptor");
              testing::expect(pair.handover_here.hear().ok(), "no answer");
              testing::expect(!pair.here.show({memory.get(), 1}), "it was accepted");
              testing::expect(pair.handover_there.hear().code() == Code::again, "it was shown again");
              return std::string();
            }),
            "");
}

// Sanitizers need most of the addresses themselves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ArenaExchange, WithoutAddressesToSpareItIsRefused) {
  EXPECT_EQ(testing::in_child([] {
              ArenaPair pair;
              const auto memory = pair.allocate(8 << 20);
              (void)pair.here.show({memory.get(), 1});
              const rlimit few{1 << 20, 1 << 20};
              setrlimit(RLIMIT_AS, &few);
              testing::expect(pair.handover_there.hear().ok(), "the link ended");
              testing::expect(pair.there.look({0, 0}, 1) == nullptr, "a segment beyond all addresses");
              testing::expect(pair.handover_here.hear().ok() && !pair.here.show({memory.get(), 1}),
                              "it was accepted");
              return std::string();
            }),
            "");
}
#endif

// What a hostile peer says.
class ForgedArena : public ::testing::Test {
 protected:
  Code heard(HandoverMessage message, const std::vector<int>& descriptors) {
    message.subject = Subject::arena;
    EXPECT_TRUE(send_message(pair_.other_socket, std::as_bytes(std::span(&message, 1)), descriptors).ok());
    return pair_.handover_here.hear().code();
  }
  ArenaPair pair_;
  Segment memory_ = Segment::create(64 << 10).value();
};

TEST_F(ForgedArena, OnlyWhatWeWouldSayIsTaken) {
  const HandoverMessage good{.kind = Kind::offer, .bytes = 64 << 10};
  HandoverMessage message = good;
  message.place = most_arena_segments;
  EXPECT_EQ(heard(message, {memory_.fd()}), Code::protocol_violation);
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{65} << 10, ~std::uint64_t{0}}) {
    message = good;
    message.bytes = bytes;
    EXPECT_EQ(heard(message, {memory_.fd()}), Code::protocol_violation) << bytes;
  }
  EXPECT_EQ(heard(good, {}), Code::protocol_violation);
  EXPECT_EQ(heard(good, {memory_.fd(), memory_.fd()}), Code::protocol_violation);
  EXPECT_EQ(heard(good, {pair_.socket.get()}), Code::protocol_violation);
  const UniqueFd unsealed(memfd_create("arena", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(unsealed.get(), 64 << 10), 0);
  EXPECT_EQ(heard(good, {unsealed.get()}), Code::protocol_violation) << "it could shrink";
  EXPECT_EQ(pair_.here.look({0, 0}, 1), nullptr);
  EXPECT_EQ(heard(good, {memory_.fd()}), Code::ok);
  EXPECT_NE(pair_.here.look({0, 0}, 64 << 10), nullptr);
}

// Its bytes may be on their way from there.
TEST_F(ForgedArena, ASegmentIsNotReplaced) {
  const HandoverMessage message{.kind = Kind::offer, .place = 5, .bytes = 64 << 10};
  ASSERT_EQ(heard(message, {memory_.fd()}), Code::ok);
  const std::byte* before = pair_.here.look({5, 0}, 1);
  ASSERT_NE(before, nullptr);
  EXPECT_EQ(heard(message, {memory_.fd()}), Code::protocol_violation);
  EXPECT_EQ(pair_.here.look({5, 0}, 1), before);
}

TEST_F(ForgedArena, AnAnswerToNoOfferIsRefused) {
  const auto memory = pair_.allocate(10'000);
  HandoverMessage message{.kind = Kind::accepted};
  EXPECT_EQ(heard(message, {}), Code::protocol_violation) << "it was not shown";
  (void)pair_.here.show({memory.get(), 1});
  message.place = 1;
  EXPECT_EQ(heard(message, {}), Code::protocol_violation);
  message.place = 0;
  EXPECT_EQ(heard(message, {memory_.fd()}), Code::protocol_violation) << "with a descriptor";
  EXPECT_EQ(heard(message, {}), Code::ok);
  EXPECT_EQ(heard(message, {}), Code::protocol_violation) << "twice";
}

}  // namespace
}  // namespace parley::transport::shm
