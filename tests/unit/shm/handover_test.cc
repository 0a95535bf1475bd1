#include "transport/shm/handover.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/shm/child.h"
#include "tests/unit/shm/pass_descriptors.h"
#include "tests/unit/shm/refuse_calls.h"

namespace parley::transport::shm {
namespace {

using base::Code;
using base::UniqueFd;

// Two processes with a pool each, and the socket between them.
struct Pair {
  explicit Pair(WindowPlan plan = {.bytes = 32 << 10}) : here(plan), there(plan) {
    auto [one, other] = testing::make_sockets();
    for (const UniqueFd* end : {&one, &other}) ::fcntl(end->get(), F_SETFL, O_NONBLOCK);
    socket = std::move(one);
    other_socket = std::move(other);
  }
  WindowPool here, there;
  UniqueFd socket, other_socket;
  ArenaExchange our_arenas{nullptr, socket}, their_arenas{nullptr, other_socket};
  Handover ours{here, our_arenas, socket};
  Handover theirs{there, their_arenas, other_socket};
};

TEST(Handover, AnOfferedWindowIsMappedAndAccepted) {
  Pair pair;
  EXPECT_EQ(pair.theirs.hear().code(), Code::again);
  pair.ours.offer_another();
  EXPECT_EQ(pair.here.made(), 1U);
  EXPECT_TRUE(pair.ours.accepted().none());
  ASSERT_TRUE(pair.theirs.hear().ok());
  ASSERT_TRUE(pair.ours.hear().ok());
  ASSERT_EQ(pair.ours.accepted(), WindowSet(1));
  const auto window = pair.theirs.peer_window(0);
  ASSERT_EQ(window.size(), 32U << 10);
  pair.here.memory(0).data()[window.size() - 1] = std::byte{42};
  EXPECT_EQ(window.back(), std::byte{42});
  EXPECT_TRUE(pair.theirs.peer_window(1).empty());
  EXPECT_TRUE(pair.theirs.peer_window(most_windows).empty());
  EXPECT_TRUE(pair.theirs.peer_window(~std::uint64_t{0}).empty());
}

TEST(Handover, OneOfferAtATime) {
  Pair pair;
  for (int i = 0; i < 5; ++i) pair.ours.offer_another();
  EXPECT_EQ(pair.here.made(), 1U);
  for (std::size_t i = 1; i <= most_windows + 1; ++i) {
    pair.ours.offer_another();
    (void)pair.theirs.hear();
    (void)pair.ours.hear();
    EXPECT_EQ(pair.ours.accepted().count(), std::min(i, most_windows));
  }
}

TEST(Handover, AWindowInThePlaceOfAnotherIsOfferedAgain) {
  Pair pair({.bytes = 32 << 10, .most = 1});
  pair.ours.offer_another();
  ASSERT_TRUE(pair.theirs.hear().ok() && pair.ours.hear().ok());
  pair.here.retire(0);
  EXPECT_TRUE(pair.ours.accepted().none());
  pair.ours.offer_another();
  ASSERT_TRUE(pair.theirs.hear().ok() && pair.ours.hear().ok());
  ASSERT_TRUE(pair.ours.accepted().test(0));
  pair.here.memory(0).data()[7] = std::byte{42};
  EXPECT_EQ(pair.theirs.peer_window(0)[7], std::byte{42});
}

// An answer that was on its way when the window was retired says nothing of the next one.
TEST(Handover, ALateAnswerIsNotTakenForAnother) {
  Pair pair({.bytes = 32 << 10, .most = 1});
  pair.ours.offer_another();
  ASSERT_TRUE(pair.theirs.hear().ok());
  pair.here.retire(0);
  pair.ours.offer_another();
  ASSERT_TRUE(pair.ours.hear().ok());
  EXPECT_TRUE(pair.ours.accepted().none());
  ASSERT_TRUE(pair.theirs.hear().ok() && pair.ours.hear().ok());
  EXPECT_TRUE(pair.ours.accepted().test(0));
}

// What the link would take for the end of the peer's process.
TEST(Handover, AShortageOfMemoryIsNotTheOtherDescriptor) {
  EXPECT_EQ(testing::in_child([] {
              Pair pair;
              pair.ours.offer_another();
              testing::refuse_calls({{.number = SYS_recvmsg, .error = ENOMEM}});
              return std::string(pair.theirs.hear().ok() ? "" : "taken for the end");
            }),
            "");
}

TEST(Handover, WithoutADescriptorToSpareItIsRefused) {
  EXPECT_EQ(testing::in_child([] {
              Pair pair({.bytes = 32 << 10, .most = 1});
              pair.ours.offer_another();
              rlimit few{};
              getrlimit(RLIMIT_NOFILE, &few);
              few.rlim_cur = 3;
              setrlimit(RLIMIT_NOFILE, &few);
              testing::expect(pair.theirs.hear().ok(), "the link ended");
              testing::expect(pair.theirs.peer_window(0).empty(), "a window without a descriptor");
              testing::expect(pair.ours.hear().ok() && pair.ours.accepted().none(), "it was accepted");
              pair.ours.offer_another();
              testing::expect(pair.theirs.hear().code() == Code::again, "it was offered again");
              return std::string();
            }),
            "");
}

TEST(Handover, TheEndOfThePeerIsHeardAfterWhatItSaid) {
  Pair pair;
  pair.ours.offer_another();
  // Unread there, so that the end is a reset.
  pair.theirs.offer_another();
  pair.socket.reset();
  EXPECT_EQ(pair.theirs.hear().code(), Code::peer_died);
  EXPECT_FALSE(pair.theirs.peer_window(0).empty());
  EXPECT_EQ(pair.theirs.hear().code(), Code::peer_died);
}

// What a hostile peer says.
class ForgedHandover : public ::testing::Test {
 protected:
  struct Forged {
    std::array<char, 4> magic{'P', 'L', 'Y', 'W'};
    std::uint8_t kind = 1;
    std::uint8_t subject = 1;
    std::uint16_t place = 0;
    std::uint64_t bytes = 32 << 10;
    std::uint32_t generation = 1;
    std::uint32_t nothing = 0;
  };

  Code heard(const Forged& message, const std::vector<int>& descriptors) {
    Pair pair;
    EXPECT_TRUE(send_message(pair.other_socket, std::as_bytes(std::span(&message, 1)), descriptors).ok());
    return pair.ours.hear().code();
  }

  Segment memory_ = Segment::create(32 << 10).value();
};

TEST_F(ForgedHandover, OnlyWhatWeWouldSayIsTaken) {
  EXPECT_EQ(heard({}, {memory_.fd()}), Code::ok);
  Forged message;
  message.magic[0] = 'X';
  EXPECT_EQ(heard(message, {memory_.fd()}), Code::protocol_violation);
  for (const int kind : {0, 4, 255}) {
    message = {};
    message.kind = static_cast<std::uint8_t>(kind);
    EXPECT_EQ(heard(message, {}), Code::protocol_violation) << kind;
  }
  for (const int subject : {0, 3, 255}) {
    message = {};
    message.subject = static_cast<std::uint8_t>(subject);
    EXPECT_EQ(heard(message, {memory_.fd()}), Code::protocol_violation) << subject;
  }
  message = {};
  message.place = most_windows;
  EXPECT_EQ(heard(message, {memory_.fd()}), Code::protocol_violation);
  for (const std::uint64_t bytes : {0UL, 64UL, 32'769UL, 1UL << 24, ~0UL, (1UL << 32) + (32 << 10)}) {
    message = {};
    message.bytes = bytes;
    EXPECT_EQ(heard(message, {memory_.fd()}), Code::protocol_violation) << bytes;
  }
  EXPECT_EQ(heard({}, {memory_.fd(), memory_.fd()}), Code::protocol_violation);
}

TEST_F(ForgedHandover, MemoryThatIsNoneIsRefused) {
  EXPECT_EQ(heard({}, {}), Code::protocol_violation);
  const auto sockets = testing::make_sockets();
  EXPECT_EQ(heard({}, {sockets.first.get()}), Code::protocol_violation);
  Forged message;
  message.bytes = 64 << 10;
  EXPECT_EQ(heard(message, {memory_.fd()}), Code::protocol_violation) << "too short";
  const UniqueFd unsealed(memfd_create("window", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(unsealed.get(), 32 << 10), 0);
  EXPECT_EQ(heard({}, {unsealed.get()}), Code::protocol_violation) << "it could shrink";
}

TEST_F(ForgedHandover, AnAnswerToNoOfferIsRefused) {
  for (const int kind : {2, 3}) {
    Pair pair;
    Forged message;
    message.kind = static_cast<std::uint8_t>(kind);
    const auto say = [&] {
      ASSERT_TRUE(send_message(pair.other_socket, std::as_bytes(std::span(&message, 1)), {}).ok());
    };
    say();  // of a generation that never was
    EXPECT_EQ(pair.ours.hear().code(), Code::ok);
    EXPECT_TRUE(pair.ours.accepted().none());
    pair.ours.offer_another();
    say();
    EXPECT_EQ(pair.ours.hear().code(), Code::ok);
    EXPECT_EQ(pair.ours.accepted().test(0), kind == 2);
    say();  // twice
    EXPECT_EQ(pair.ours.hear().code(), Code::protocol_violation);
    message.kind = 2;
    const int memory = memory_.fd();
    ASSERT_TRUE(send_message(pair.other_socket, std::as_bytes(std::span(&message, 1)), {&memory, 1}).ok());
    EXPECT_EQ(pair.ours.hear().code(), Code::protocol_violation) << "with a descriptor";
  }
}

TEST_F(ForgedHandover, AMessageOfAnotherSizeIsRefused) {
  for (const std::size_t bytes : {1U, 16U, 23U, 25U, 400U}) {
    Pair pair;
    const std::vector<std::byte> message(bytes);
    ASSERT_TRUE(send_message(pair.other_socket, message, {}).ok());
    EXPECT_EQ(pair.ours.hear().code(), Code::protocol_violation) << bytes;
  }
}

}  // namespace
}  // namespace parley::transport::shm
