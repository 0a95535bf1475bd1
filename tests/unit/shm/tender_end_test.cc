// Eager messages that the receiver may pull, and what ends them otherwise: their deadline, an abort of their
// context, the death of either side; while they are tendered, while they are pulled, and once they are
// filled.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "tests/unit/shm/tender.h"

namespace parley::transport::shm::testing {
namespace {

using base::Code;
using namespace std::chrono_literals;

constexpr std::size_t whole_ring = 60'000;  // more than the ring holds; tendered behind another, too

class TenderEnds : public Tender {
 protected:
  // The caller's again, and not as it was sent.
  static void change(Bytes& out) { std::fill(out.begin(), out.end(), changed); }
  // Nothing of it is received, and the pair goes on. `next`: the receive of another message.
  void expect_nothing_but_the_next(Request& next, const Bytes& in) {
    world_.settle();
    EXPECT_EQ(next.state, RequestState::posted);
    const Bytes other = content(in.size(), 2);
    world_.send(0, 1, 7, other);
    world_.finish(next);
    EXPECT_TRUE(next.status.ok());
    EXPECT_EQ(in, other);
    expect_no_credit_lost();
  }
  // A fill that is half in the ring: the receiver does nothing. Null: it is complete.
  Request* send_half(const Bytes& out, std::chrono::nanoseconds timeout = 1h) {
    Request* send = world_.send(0, 1, 7, out, timeout);
    world_.messengers[0]->lose_patience();
    EXPECT_EQ(send->state, RequestState::leaving);
    return send;
  }
  // A fill that waits for its turn behind another.
  Request* send_behind(const Bytes& first, const Bytes& out, std::chrono::nanoseconds timeout = 1h) {
    half_ = world_.send(0, 1, 6, first);
    Request* send = world_.send(0, 1, 7, out, timeout);
    world_.messengers[0]->lose_patience();
    EXPECT_EQ(half_->state, RequestState::leaving);
    EXPECT_EQ(send->state, RequestState::queued);
    return send;
  }
  // Number 1 has the whole message and cannot tell: its ring is full.
  Request* send_and_pull_unheard(const Bytes& out, Bytes& in, std::chrono::nanoseconds timeout = 1h) {
    static const Bytes word(8);  // what does not leave at once is read later
    while (!world_.messengers[1]->peer(0).blocked) world_.send(1, 0, 5, word);
    Request& receive = world_.receive(1, 0, 7, in);
    Request* send = world_.send(0, 1, 7, out, timeout);
    for (int i = 0; i < 10; ++i) world_.step(1);
    EXPECT_EQ(reads.count, 1);
    EXPECT_EQ(in, out);
    EXPECT_EQ(send->state, RequestState::offered);
    EXPECT_NE(receive.state, RequestState::offered);
    return send;
  }
  [[nodiscard]] bool is_linked(std::size_t from) const {
    return world_.messengers[from]->peer(from == 0 ? 1U : 0U).state == PeerState::up;
  }

  Request* half_ = nullptr;
};

TEST_F(TenderEnds, AtItsDeadlineWhileNobodyPulls) {
  Bytes out = content(medium), in(medium);
  Request* send = world_.send(0, 1, 7, out, 1s);
  ASSERT_EQ(send->state, RequestState::offered);
  world_.tick_late(0);
  EXPECT_EQ(send->status.code(), Code::timed_out);
  change(out);
  expect_nothing_but_the_next(world_.receive(1, 0, 7, in), in);
}

TEST_F(TenderEnds, AtItsDeadlineWhileItIsRead) {
  Bytes out = content(medium), in(medium);
  Request& receive = world_.receive(1, 0, 7, in);
  Request* send = world_.send(0, 1, 7, out, 1s);
  reads.before = [&] {
    world_.tick_late(0);
    EXPECT_EQ(send->status.code(), Code::timed_out);
    change(out);
  };
  expect_nothing_but_the_next(receive, in);
  EXPECT_EQ(reads.before, nullptr);
}

TEST_F(TenderEnds, WellAtItsDeadlineIfThePeerHasReadIt) {
  const Bytes out = content(medium);
  Bytes in(medium);
  Request* send = send_and_pull_unheard(out, in, 1s);
  world_.tick_late(0);
  EXPECT_EQ(send->state, RequestState::done);
  EXPECT_TRUE(send->status.ok());
  world_.settle();
  EXPECT_TRUE(is_linked(0));
  expect_no_credit_lost();
}

TEST_F(TenderEnds, AtItsDeadlineWithTheLinkIfItIsHalfFilled) {
  Bytes out = content(whole_ring), in(whole_ring);
  Request* send = send_half(out, 1s);
  world_.tick_late(0);
  world_.finish(*send);
  EXPECT_EQ(send->status.code(), Code::timed_out);
  change(out);
  Request& receive = world_.receive(1, 0, 7, in);
  world_.finish(receive);
  EXPECT_TRUE(receive.status.failed());
  EXPECT_EQ(world_.messengers[0]->peer(1).reason.code(), Code::given_up);
}

TEST_F(TenderEnds, AtItsDeadlineAloneIfItsFillHasNotBegun) {
  const Bytes first = content(whole_ring, 3);
  Bytes out = content(whole_ring), before(whole_ring), in(whole_ring);
  Request* send = send_behind(first, out, 1s);
  world_.tick_late(0);
  EXPECT_EQ(send->status.code(), Code::timed_out);
  change(out);
  world_.finish(world_.receive(1, 0, 6, before));
  EXPECT_EQ(before, first);
  EXPECT_TRUE(half_->status.ok());
  expect_nothing_but_the_next(world_.receive(1, 0, 7, in), in);
}

TEST_F(TenderEnds, ByAnAbortWhileNobodyPulls) {
  Bytes out = content(medium), in(medium);
  Request* send = world_.send(0, 1, 7, out);
  ASSERT_TRUE(world_.messengers[0]->abort_context(0, 0, "enough"));
  EXPECT_EQ(send->status.code(), Code::aborted);
  change(out);
  world_.settle();
  EXPECT_EQ(world_.messengers[1]
                ->receive({.pattern = {0, 0, 7}, .data = in.data(), .capacity_bytes = medium})
                .status.code(),
            Code::aborted);
  EXPECT_TRUE(is_linked(0) && is_linked(1)) << "other contexts go on";
  expect_no_credit_lost();
}

TEST_F(TenderEnds, ByAnAbortWhileItIsRead) {
  Bytes out = content(medium), in(medium);
  Request& receive = world_.receive(1, 0, 7, in);
  Request* send = world_.send(0, 1, 7, out);
  reads.before = [&] {
    ASSERT_TRUE(world_.messengers[0]->abort_context(0, 0, "enough"));
    EXPECT_EQ(send->status.code(), Code::aborted);
    change(out);
  };
  world_.finish(receive);
  EXPECT_EQ(receive.status.code(), Code::aborted);
  world_.settle();
  EXPECT_TRUE(is_linked(0) && is_linked(1));
  expect_no_credit_lost();
}

TEST_F(TenderEnds, ByAnAbortOfItsReceiver) {
  const Bytes out = content(medium);
  Bytes in(medium);
  Request& receive = world_.receive(1, 0, 7, in);
  Request* send = world_.send(0, 1, 7, out);
  ASSERT_TRUE(world_.messengers[1]->abort_context(0, 1, "enough"));
  EXPECT_EQ(receive.status.code(), Code::aborted);
  std::fill(in.begin(), in.end(), changed);
  world_.finish(*send);
  EXPECT_EQ(send->status.code(), Code::aborted);
  world_.settle();
  EXPECT_EQ(in, Bytes(medium, changed));
  EXPECT_EQ(reads.count, 0);
  EXPECT_TRUE(is_linked(0) && is_linked(1));
  expect_no_credit_lost();
}

TEST_F(TenderEnds, ByAnAbortOnceItIsHalfFilled) {
  Bytes out = content(whole_ring);
  Request* send = send_half(out);
  ASSERT_TRUE(world_.messengers[0]->abort_context(0, 0, "enough"));
  EXPECT_EQ(send->state, RequestState::leaving) << "the link still reads it";
  world_.finish(*send);
  EXPECT_EQ(send->status.code(), Code::aborted);
  world_.settle();
  EXPECT_TRUE(is_linked(0) && is_linked(1));
  expect_no_credit_lost();
}

TEST_F(TenderEnds, ByAnAbortBeforeItsFillHasBegun) {
  const Bytes first = content(whole_ring, 3);
  Bytes out = content(whole_ring);
  Request* send = send_behind(first, out);
  ASSERT_TRUE(world_.messengers[0]->abort_context(0, 0, "enough"));
  EXPECT_EQ(send->status.code(), Code::aborted);
  change(out);
  world_.finish(*half_);
  world_.settle();
  EXPECT_TRUE(is_linked(0) && is_linked(1));
  expect_no_credit_lost();
}

TEST_F(TenderEnds, WithAReceiverThatDiesWithoutLooking) {
  const Bytes out = content(medium);
  Request* send = world_.send(0, 1, 7, out);
  world_.kill(1);
  world_.finish(*send);
  EXPECT_EQ(send->status.code(), Code::peer_died);
}

TEST_F(TenderEnds, WellIfTheReceiverDiesAfterItHasReadIt) {
  const Bytes out = content(medium);
  Bytes in(medium);
  Request* send = send_and_pull_unheard(out, in);
  world_.kill(1);
  world_.finish(*send);
  EXPECT_TRUE(send->status.ok());
  EXPECT_EQ(world_.messengers[0]->peer(1).reason.code(), Code::peer_died);
}

TEST_F(TenderEnds, WithAReceiverThatDiesWhenItIsHalfFilledOrWaits) {
  const Bytes first = content(whole_ring), out = content(whole_ring);
  Request* send = send_behind(first, out);
  world_.kill(1);
  world_.finish(*send);
  world_.finish(*half_);
  EXPECT_EQ(send->status.code(), Code::peer_died);
  EXPECT_EQ(half_->status.code(), Code::peer_died);
}

TEST_F(TenderEnds, WithASenderThatDiesBeforeItIsRead) {
  Bytes out = content(medium), in(medium);
  world_.send(0, 1, 7, out);
  world_.step(1);
  world_.kill(0);
  change(out);
  Request& receive = world_.receive(1, 0, 7, in);
  world_.finish(receive);
  EXPECT_EQ(receive.status.code(), Code::peer_died);
}

TEST_F(TenderEnds, WithASenderThatDiesWhileItIsRead) {
  Bytes out = content(medium), in(medium);
  Request& receive = world_.receive(1, 0, 7, in);
  world_.send(0, 1, 7, out);
  reads.succeed = 0;
  reads.error = ESRCH;
  reads.before = [&] { world_.kill(0); };
  world_.finish(receive);
  EXPECT_EQ(receive.status.code(), Code::peer_died);
}

TEST_F(TenderEnds, WithASenderThatDiesWhenItIsHalfFilled) {
  const Bytes out = content(whole_ring);
  Bytes in(whole_ring);
  send_half(out);
  world_.kill(0);
  Request& receive = world_.receive(1, 0, 7, in);
  world_.finish(receive);
  EXPECT_EQ(receive.status.code(), Code::peer_died);
}

// What was written before is delivered first.
TEST_F(TenderEnds, WellIfTheSenderDiesOnceItIsFilled) {
  const Bytes out = content(medium);
  Bytes in(medium);
  Request* send = world_.send(0, 1, 7, out);
  world_.messengers[0]->lose_patience();
  ASSERT_EQ(send->state, RequestState::done);
  world_.kill(0);
  Request& receive = world_.receive(1, 0, 7, in);
  world_.finish(receive);
  EXPECT_TRUE(receive.status.ok());
  EXPECT_EQ(in, out);
}

}  // namespace
}  // namespace parley::transport::shm::testing
