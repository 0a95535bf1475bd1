// Large messages that the receiver pulls out of the sender's memory, and what may come between.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <string>

#include "tests/unit/shm/pulling_world.h"

namespace parley::transport::shm::testing {
namespace {

using base::Code;
using base::Status;

constexpr std::size_t large = 4 << 20;  // many pieces

// What stands between the movers and the kernel.
struct Reads {
  int count = 0;
  int fail_from = -1;  // the number of the first read that fails; -1: none
  int error = 0;
} reads;

Status counted_read(pid_t process, std::uint64_t address, base::MemoryRef into) noexcept {
  if (reads.fail_from >= 0 && reads.count >= reads.fail_from) return {Code::io_error, reads.error};
  ++reads.count;
  return read_process_memory(process, address, into);
}

class Pulling : public ::testing::Test {
 protected:
  Pulling() { reads = {}; }

  Bytes content(std::size_t bytes, int salt = 1) {
    Bytes made(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      made[i] = static_cast<std::byte>(i * 31 + (i >> 9) * 7 + static_cast<std::size_t>(salt) * 101);
    return made;
  }
  static PullingWorld world_of(std::size_t size) {
    return PullingWorld({size, CrossMemory::create(counted_read)});
  }
  // Until the receive has some of its bytes and not all.
  void begin_pull(PullingWorld& world) {
    reads.count = 0;
    world.run_until([] { return reads.count >= 2; });
  }
};

TEST_F(Pulling, ALargeMessageIsReadInPiecesAndEndsTheSend) {
  PullingWorld world = world_of(2);
  reads.count = 0;
  const Bytes out = content(large);
  Bytes in(large);
  Request* send = world.send(0, 1, 7, out);
  Request& receive = world.receive(1, 0, 7, in);
  world.finish(receive);
  EXPECT_EQ(send->state, RequestState::offered) << "the sender has done nothing for it";
  world.finish(*send);
  EXPECT_TRUE(receive.status.ok() && send->status.ok());
  EXPECT_EQ(in, out);
  EXPECT_EQ(reads.count, static_cast<int>(large / (256 << 10)));
}

TEST_F(Pulling, OthersAreServedBetweenThePieces) {
  PullingWorld world = world_of(3);
  const Bytes out = content(large), word = content(8);
  Bytes in(large), heard(8);
  world.send(0, 1, 7, out);
  Request& pulled = world.receive(1, 0, 7, in);
  begin_pull(world);
  Request& small = world.receive(1, 2, 8, heard);
  EXPECT_EQ(world.send(2, 1, 8, word), nullptr);
  world.step(1);
  EXPECT_EQ(small.state, RequestState::done);
  EXPECT_EQ(pulled.state, RequestState::moving);
  world.finish(pulled);
  EXPECT_EQ(in, out);
}

TEST_F(Pulling, TwoSendersAreReadInTurns) {
  PullingWorld world = world_of(3);
  const Bytes out = content(large), shorter = content(large / 4, 2);
  Bytes in(large), second(large / 4);
  world.send(0, 2, 7, out);
  world.send(1, 2, 7, shorter);
  Request& longer = world.receive(2, 0, 7, in);
  Request& other = world.receive(2, 1, 7, second);
  world.finish(other);
  EXPECT_EQ(longer.state, RequestState::moving);
  world.finish(longer);
  EXPECT_EQ(in, out);
  EXPECT_EQ(second, shorter);
}

TEST_F(Pulling, ASendThatIsTakenBackMeanwhileIsNotReceived) {
  PullingWorld world = world_of(2);
  Bytes out = content(large);
  const Bytes next = content(large, 2);
  Bytes in(large);
  Request* send = world.send(0, 1, 7, out);
  Request& receive = world.receive(1, 0, 7, in);
  begin_pull(world);
  ASSERT_TRUE(world.messengers[0]->cancel(*send, Code::cancelled));
  EXPECT_EQ(send->status.code(), Code::cancelled);
  std::fill(out.begin(), out.end(), std::byte{0xee});
  for (int i = 0; i < 100; ++i) {
    world.step(1);
    world.step(0);
  }
  EXPECT_EQ(receive.state, RequestState::posted) << "it is back in its place";
  world.send(0, 1, 7, next);
  world.finish(receive);
  EXPECT_TRUE(receive.status.ok());
  EXPECT_EQ(in, next);
}

TEST_F(Pulling, ABufferThatIsGoneWithItsSendDowngradesNothing) {
  PullingWorld world = world_of(2);
  const Bytes out = content(large);
  Bytes in(large);
  Request* send = world.send(0, 1, 7, out);
  Request& receive = world.receive(1, 0, 7, in);
  begin_pull(world);
  ASSERT_TRUE(world.messengers[0]->cancel(*send, Code::timed_out));
  reads.fail_from = reads.count;
  reads.error = EFAULT;
  for (int i = 0; i < 100; ++i) world.step(1);
  EXPECT_EQ(receive.state, RequestState::posted) << "the sender need not be asked";
  reads.fail_from = -1;
  reads.count = 0;
  world.send(0, 1, 7, out);
  world.finish(receive);
  EXPECT_GT(reads.count, 0) << "still pulled";
  EXPECT_EQ(in, out);
}

TEST_F(Pulling, ASendThatIsTakenBackTooLateIsSent) {
  PullingWorld world = world_of(2);
  const Bytes out = content(large);
  Bytes in(large);
  Request* send = world.send(0, 1, 7, out);
  Request& receive = world.receive(1, 0, 7, in);
  world.step(0);
  world.run_until([&] {  // without the sender, who has not heard of it
    world.step(1);
    return receive.state == RequestState::done || send->state == RequestState::done;
  });
  ASSERT_EQ(send->state, RequestState::offered);
  EXPECT_FALSE(world.messengers[0]->cancel(*send, Code::cancelled));
  EXPECT_EQ(send->state, RequestState::done);
  EXPECT_TRUE(send->status.ok());
  EXPECT_EQ(in, out);
  // What the receiver says then finds no request, and the pair goes on.
  Bytes again(large);
  Request* second = world.send(0, 1, 8, out);
  world.finish(world.receive(1, 0, 8, again));
  world.finish(*second);
  EXPECT_EQ(again, out);
}

TEST_F(Pulling, AnAbortedReceiveIsNotWrittenAnyMore) {
  PullingWorld world = world_of(2);
  const Bytes out = content(large);
  Bytes in(large);
  Request* send = world.send(0, 1, 7, out);
  Request& receive = world.receive(1, 0, 7, in);
  begin_pull(world);
  ASSERT_TRUE(world.messengers[1]->abort_context(0, 1, "enough"));
  EXPECT_EQ(receive.status.code(), Code::aborted);
  const int before = reads.count;
  std::fill(in.begin(), in.end(), std::byte{0xee});
  world.finish(*send);
  for (int i = 0; i < 100; ++i) world.step(1);
  EXPECT_EQ(send->status.code(), Code::aborted);
  EXPECT_EQ(reads.count, before);
  EXPECT_TRUE(std::all_of(in.begin(), in.end(), [](std::byte b) { return b == std::byte{0xee}; }));
}

TEST_F(Pulling, AReceiveThatExpiresInTheMiddleEndsTheLink) {
  PullingWorld world = world_of(2);
  const Bytes out = content(large);
  Bytes in(large);
  Request* send = world.send(0, 1, 7, out);
  Request& receive = world.receive(1, 0, 7, in, std::chrono::seconds(1));
  begin_pull(world);
  const auto now = std::chrono::steady_clock::now();
  world.messengers[1]->tick(now);  // it counts from here
  world.messengers[1]->tick(now + std::chrono::seconds(2));
  world.finish(receive);
  EXPECT_EQ(receive.status.code(), Code::timed_out);
  const int before = reads.count;
  world.finish(*send);
  EXPECT_EQ(send->status.code(), Code::given_up);
  EXPECT_EQ(reads.count, before);
}

TEST_F(Pulling, ALinkThatIsClosedBySenderHandsOutNothing) {
  PullingWorld world = world_of(2);
  Bytes out = content(large);
  Bytes in(large);
  Request* send = world.send(0, 1, 7, out);
  Request& receive = world.receive(1, 0, 7, in);
  begin_pull(world);
  world.transports[0]->close();
  while (world.step(0) != 0) {
  }
  ASSERT_EQ(send->state, RequestState::done);
  EXPECT_TRUE(send->status.failed());
  std::fill(out.begin(), out.end(), std::byte{0xee});  // the caller's again
  world.finish(receive);
  EXPECT_TRUE(receive.status.failed()) << "what was read may be another thing";
}

class PullingFails : public Pulling, public ::testing::WithParamInterface<int> {};

// At the first piece, and in the middle.
TEST_P(PullingFails, TheMessageArrivesByTheLinkAndSoDoTheNext) {
  for (const int at : {0, 3}) {
    PullingWorld world = world_of(2);
    const Bytes out = content(large);
    reads.count = 0;
    reads.fail_from = at;
    reads.error = GetParam();
    for (int message = 0; message < 3; ++message) {
      Bytes in(large);
      Request* send = world.send(0, 1, 7, out);
      Request& receive = world.receive(1, 0, 7, in);
      world.finish(receive);
      world.finish(*send);
      EXPECT_TRUE(receive.status.ok() && send->status.ok());
      EXPECT_EQ(in, out);
    }
    EXPECT_EQ(reads.count, at);
    reads.fail_from = -1;
    Bytes in(large);
    world.send(0, 1, 7, out);
    world.finish(world.receive(1, 0, 7, in));
    EXPECT_EQ(reads.count, at) << "it is not tried again";
    EXPECT_EQ(in, out);
    EXPECT_TRUE(world.messengers[1]->peer(0).mover->describe().starts_with("cma one way: we cannot read"))
        << world.messengers[1]->peer(0).mover->describe();
  }
}

INSTANTIATE_TEST_SUITE_P(Errors, PullingFails, ::testing::Values(EPERM, ESRCH, EFAULT, ENOSYS));

TEST_F(Pulling, OffersBeyondTheBoardGoByTheLink) {
  PullingWorld world = world_of(2);
  constexpr int count = board_words + 50;
  constexpr std::size_t bytes = 10000;
  reads.count = 0;
  std::vector<Bytes> out, in;
  std::vector<Request*> sends;
  for (int i = 0; i < count; ++i) out.push_back(content(bytes, i));
  for (int i = 0; i < count; ++i) {
    sends.push_back(world.send(0, 1, i, out[static_cast<std::size_t>(i)]));
    world.step(1);  // the ring has room for some only
    world.step(0);
  }
  in.assign(count, Bytes(bytes));
  for (int i = count; i-- > 0;) world.receive(1, 0, i, in[static_cast<std::size_t>(i)]);
  for (Request* send : sends) world.finish(*send);
  EXPECT_EQ(in, out);
  EXPECT_EQ(reads.count, static_cast<int>(board_words));
}

// Both ways, all sizes, some sends taken back: every byte of what is received is right.
class PullingTraffic : public Pulling, public ::testing::WithParamInterface<int> {};

TEST_P(PullingTraffic, BringsEveryByte) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto cross_memory = CrossMemory::create(counted_read);
  PullingWorld world({(GetParam() & 1) != 0 ? cross_memory : nullptr, cross_memory,
                      (GetParam() & 2) != 0 ? cross_memory : nullptr});
  reads.count = 0;
  struct Message {
    std::uint32_t from, to;
    Bytes out, in;
    Request* send;
    Request* receive;
    bool withdrawn = false;
  };
  std::vector<std::unique_ptr<Message>> messages;
  const auto pick = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  for (int i = 0; i < 150; ++i) {
    const std::uint32_t from = pick(3), to = (from + 1 + pick(2)) % 3;
    const std::size_t bytes = pick(2) == 0 ? pick(20000) : pick(1 << 20);
    auto message =
        std::make_unique<Message>(Message{from, to, content(bytes, i), Bytes(bytes), nullptr, nullptr});
    const bool receive_first = pick(2) == 0;
    if (receive_first) message->receive = &world.receive(to, from, i, message->in);
    message->send = world.send(from, to, i, message->out);
    for (std::uint32_t steps = pick(6); steps > 0; --steps) world.step(pick(3));
    if (!receive_first) message->receive = &world.receive(to, from, i, message->in);
    messages.push_back(std::move(message));
    Message& victim = *messages[pick(static_cast<std::uint32_t>(messages.size()))];
    if (pick(4) == 0 && victim.send != nullptr && victim.send->state != RequestState::done &&
        world.messengers[victim.from]->cancel(*victim.send, Code::cancelled)) {
      victim.withdrawn = true;
      std::fill(victim.out.begin(), victim.out.end(), std::byte{0xee});
    }
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Message& message = *messages[i];
    if (message.withdrawn) {
      EXPECT_NE(message.receive->state, RequestState::done) << i;
      continue;
    }
    world.finish(*message.receive);
    if (message.send != nullptr) world.finish(*message.send);
    EXPECT_TRUE(message.receive->status.ok()) << i;
    ASSERT_TRUE(message.in == message.out) << "message " << i << " of " << message.out.size() << " bytes";
  }
  EXPECT_EQ(reads.count > 0, GetParam() != 0);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithout, PullingTraffic, ::testing::Values(0, 1, 3));

}  // namespace
}  // namespace parley::transport::shm::testing
