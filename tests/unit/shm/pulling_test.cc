// Large messages that the receiver pulls out of the sender's memory, and what may come between.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include "tests/unit/shm/pulling_world.h"

namespace parley::transport::shm::testing {
namespace {

using base::Code;

class Pulling : public WatchedReads {
 protected:
  static PullingWorld world_of(std::size_t size, std::size_t eager_limit_bytes = 8 << 10) {
    return PullingWorld({size, CrossMemory::create(watched_read)}, eager_limit_bytes);
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

TEST_F(Pulling, LeavesTheTransportUnsentUntilItHasEnded) {
  PullingWorld world = world_of(2);
  const Bytes out = content(large);
  Bytes in(large);
  world.send(0, 1, 7, out);
  Request& receive = world.receive(1, 0, 7, in);
  begin_pull(world);
  EXPECT_TRUE(world.transports[1]->unsent());
  world.finish(receive);
  world.run_until([&] { return !world.transports[1]->unsent(); });
}

// The first at once: who read on would be as slow as a sender that offers one after another. What a turn
// holds is told together.
TEST_F(Pulling, ShortMessagesShareATurn) {
  constexpr std::size_t count = 8, bytes = 64 << 10;
  PullingWorld world = world_of(2);
  reads.count = 0;
  const Bytes out = content(bytes);
  std::vector<Bytes> in(count, Bytes(bytes));
  std::vector<Request*> received;
  for (Bytes& one : in) {
    received.push_back(&world.receive(1, 0, 7, one));
    world.send(0, 1, 7, out);
  }
  std::vector<int> read;
  while (reads.count != count && read.size() < 100) {
    if (world.step(1) != 0) read.push_back(reads.count);
  }
  EXPECT_EQ(read, (std::vector<int>{1, 5, 8}));
  for (Request* one : received) world.finish(*one);
  for (const Bytes& one : in) EXPECT_EQ(one, out);
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

// Signals, without SA_RESTART, every 20 us for as long as it lives.
class SignalStorm {
 public:
  SignalStorm() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, &before_);
    const itimerval every{{0, 20}, {0, 20}};
    setitimer(ITIMER_REAL, &every, nullptr);
  }
  ~SignalStorm() {
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }
  SignalStorm(const SignalStorm&) = delete;
  SignalStorm& operator=(const SignalStorm&) = delete;

 private:
  struct sigaction before_ {};
};

// Whether the sender lives is asked after a pull, and a signal may come in the way.
TEST_F(Pulling, NoSignalMakesASenderDead) {
  PullingWorld world = world_of(2);
  const Bytes out = content(16 << 10);
  Bytes in(out.size());
  const SignalStorm storm;
  const auto end = base::Deadline::after(std::chrono::seconds(2));
  while (!end.expired() && !HasFailure()) {
    Request* send = world.send(0, 1, 7, out);
    Request& receive = world.receive(1, 0, 7, in);
    world.finish(receive);
    world.finish(*send);
    ASSERT_TRUE(receive.status.ok() && send->status.ok());
    world.messengers[0]->release(*send);
    world.messengers[1]->release(receive);
  }
}

// Both ends of this link are one process, which lives.
TEST_F(Pulling, ThePeersProcessIsWatchedAlsoWhenItsLinkHasEnded) {
  PullingWorld world = world_of(2);
  Endpoint& link = *world.messengers[0]->peer(1).endpoint;
  const base::UniqueFd end = static_cast<PullMover&>(*link.mover).end_of_peer();
  ASSERT_TRUE(end) << "this kernel cannot tell when a process ends";
  pollfd look{end.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&look, 1, 0), 0);
  link.close();
  world.run_until([&] { return world.messengers[0]->peer(1).endpoint == nullptr; });
  EXPECT_EQ(::poll(&look, 1, 0), 0);
}

TEST_F(Pulling, ABufferThatIsGoneWithItsSendDowngradesNothing) {
  PullingWorld world = world_of(2);
  const Bytes out = content(large);
  Bytes in(large);
  Request* send = world.send(0, 1, 7, out);
  Request& receive = world.receive(1, 0, 7, in);
  begin_pull(world);
  ASSERT_TRUE(world.messengers[0]->cancel(*send, Code::timed_out));
  reads.succeed = reads.count;
  reads.error = EFAULT;
  for (int i = 0; i < 100; ++i) world.step(1);
  EXPECT_EQ(receive.state, RequestState::posted) << "the sender need not be asked";
  reads.succeed = -1;
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

class PullingFails : public Pulling, public ::testing::WithParamInterface<int> {};

// At the first piece, and in the middle.
TEST_P(PullingFails, TheMessageArrivesByTheLinkAndSoDoTheNext) {
  for (const int at : {0, 3}) {
    PullingWorld world = world_of(2);
    const Bytes out = content(large);
    reads = {.count = 0, .succeed = at, .error = GetParam(), .before = nullptr};
    for (int message = 0; message < 3; ++message) {
      Bytes in(large);
      Request* send = world.send(0, 1, 7, out);
      Request& receive = world.receive(1, 0, 7, in);
      world.finish(receive);
      world.finish(*send);
      EXPECT_TRUE(receive.status.ok() && send->status.ok());
      EXPECT_EQ(in, out);
    }
    EXPECT_EQ(reads.count, at + 1);
    reads.succeed = -1;
    Bytes in(large);
    world.send(0, 1, 7, out);
    world.finish(world.receive(1, 0, 7, in));
    EXPECT_EQ(reads.count, at + 1) << "it is not tried again";
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

// More than there is credit for, of what is sent at once otherwise, in a stream: its receiver is behind.
class PullingStream : public Pulling {
 protected:
  static constexpr std::size_t bytes = 16 << 10;
  static constexpr int count = 2 * (eager_window_units / credit_units(bytes));

  PullingStream() {
    reads.count = 0;
    for (int i = 0; i < count; ++i) {
      if (Request* const send = world.send(0, 1, i, out); send != nullptr) sends.push_back(send);
      world.step(1);  // the ring has room for some only
      world.step(0);
    }
    for (int i = 0; i < count; ++i)
      receives.push_back(&world.receive(1, 0, i, in[static_cast<std::size_t>(i)]));
  }
  void expect_all() {
    for (Request* send : sends) world.finish(*send);
    for (const Bytes& one : in) EXPECT_EQ(one, out);
  }

  PullingWorld world = world_of(2, bytes);
  const Bytes out = content(bytes);
  std::vector<Bytes> in{count, Bytes(bytes)};
  std::vector<Request*> sends, receives;
};

TEST_F(PullingStream, GoesOnByTheLink) {
  for (Request* receive : receives) world.finish(*receive);
  EXPECT_LT(reads.count, 10) << "but for what is alone";
  expect_all();
}

TEST_F(PullingStream, IsPulledWhereItsSenderComputes) {
  for (int look = 0; look < 10'000; ++look) world.step(1);
  for (const Request* receive : receives) EXPECT_EQ(receive->state, RequestState::done);
  EXPECT_GT(reads.count, 100);
  for (Request* receive : receives) world.finish(*receive);
  expect_all();
}

}  // namespace
}  // namespace parley::transport::shm::testing
