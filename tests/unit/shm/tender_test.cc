// Eager messages that the receiver may pull: who is first, and what comes of it when it is the sender.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/unit/shm/tender.h"

namespace parley::transport::shm::testing {
namespace {

using base::Code;

TEST_F(Tender, IsPulledByAReceiverThatWaits) {
  const Bytes out = content(medium);
  Bytes in(medium);
  Request& receive = world_.receive(1, 0, 7, in);
  Request* send = world_.send(0, 1, 7, out);
  ASSERT_EQ(send->state, RequestState::offered);
  while (receive.state != RequestState::done) world_.step(1);
  EXPECT_EQ(send->state, RequestState::offered) << "the sender has done nothing for it";
  EXPECT_EQ(in, out);
  EXPECT_EQ(reads.count, 1);
  world_.finish(*send);
  EXPECT_TRUE(send->status.ok());
  expect_no_credit_lost();
}

TEST_F(Tender, LeavesWithoutAReceiverAndKeepsItsPlace) {
  const Bytes out = content(medium), small = content(8, 2);
  Request* send = world_.send(0, 1, 7, out);
  EXPECT_EQ(world_.send(0, 1, 7, small), nullptr);  // behind it, and complete at once
  ASSERT_NO_FATAL_FAILURE(finish_alone(*send));
  EXPECT_TRUE(send->status.ok());
  for (int i = 0; i < 100; ++i) world_.step(1);
  Bytes first(medium), second(8);
  world_.finish(world_.receive(1, 0, 7, first));
  world_.finish(world_.receive(1, 0, 7, second));
  EXPECT_EQ(first, out);
  EXPECT_EQ(second, small);
  EXPECT_EQ(reads.count, 0);
  expect_no_credit_lost();
}

TEST_F(Tender, BothMaySendFirst) {
  const Bytes out = content(medium), back = content(medium, 2);
  Request* there = world_.send(0, 1, 7, out);
  Request* here = world_.send(1, 0, 7, back);
  world_.finish(*there);
  world_.finish(*here);
  Bytes in(medium), got(medium);
  world_.finish(world_.receive(1, 0, 7, in));
  world_.finish(world_.receive(0, 1, 7, got));
  EXPECT_EQ(in, out);
  EXPECT_EQ(got, back);
}

TEST_F(Tender, WhatIsFilledWhileItIsReadArrivesOnceAndInOrder) {
  Bytes out = content(medium);
  const Bytes small = content(8, 2);
  Bytes first(medium), second(8);
  Request& receive = world_.receive(1, 0, 7, first);
  Request& next = world_.receive(1, 0, 7, second);
  Request* send = world_.send(0, 1, 7, out);
  EXPECT_EQ(world_.send(0, 1, 7, small), nullptr);
  reads.before = [&] {
    finish_alone(*send);
    EXPECT_TRUE(send->status.ok());
    std::fill(out.begin(), out.end(), std::byte{0xee});  // the caller's again
  };
  world_.finish(receive);
  world_.finish(next);
  EXPECT_EQ(first, content(medium));
  EXPECT_EQ(second, small);
  EXPECT_EQ(reads.count, 1);
  expect_no_credit_lost();
}

// However many receives there are, a fill that crosses a pull looks at those alone that were matched.
TEST_F(Tender, AFillLooksForItsReceiveAmongThoseThatWereMatched) {
  std::vector<Bytes> unmatched(1000, Bytes(8));
  for (Bytes& one : unmatched) world_.receive(1, 0, 8, one);
  const Bytes out = content(medium);
  Bytes in(medium);
  Request& receive = world_.receive(1, 0, 7, in);
  Request* send = world_.send(0, 1, 7, out);
  auto& accepted = world_.messengers[1]->peer(0).accepted;
  EXPECT_TRUE(accepted.empty());
  reads.before = [&] {
    EXPECT_EQ(accepted.front(), &receive);
    EXPECT_EQ(accepted.back(), &receive);
    finish_alone(*send);
  };
  world_.finish(receive);
  EXPECT_EQ(in, out);
  EXPECT_TRUE(accepted.empty());
  world_.messengers[1]->abort_context(0, 1, "they wait for nothing");
}

TEST_F(Tender, WhatIsTakenBackWhileItIsReadIsGone) {
  Bytes out = content(medium);
  const Bytes other = content(medium, 2);
  Bytes in(medium);
  Request& receive = world_.receive(1, 0, 7, in);
  Request* send = world_.send(0, 1, 7, out);
  reads.before = [&] {
    EXPECT_TRUE(world_.messengers[0]->cancel(*send, Code::cancelled));
    std::fill(out.begin(), out.end(), std::byte{0xee});
  };
  for (int i = 0; i < 100; ++i) {
    world_.step(1);
    world_.step(0);
  }
  EXPECT_EQ(receive.state, RequestState::posted) << "it is back in its place";
  EXPECT_TRUE(world_.messengers[1]->peer(0).accepted.empty());
  world_.send(0, 1, 7, other);
  world_.finish(receive);
  EXPECT_EQ(in, other);
  expect_no_credit_lost();
}

TEST_F(Tender, WhatCannotBeReadComesByTheLink) {
  const Bytes out = content(medium);
  Bytes in(medium);
  Request& receive = world_.receive(1, 0, 7, in);
  reads.succeed = 0;
  Request* send = world_.send(0, 1, 7, out);
  world_.finish(receive);
  world_.finish(*send);
  EXPECT_EQ(in, out);
  EXPECT_EQ(reads.count, 1);
  Request* next = world_.send(0, 1, 7, out);
  EXPECT_TRUE(next == nullptr || next->state != RequestState::offered) << "the sender has learnt from it";
  world_.finish(world_.receive(1, 0, 7, in));
  expect_no_credit_lost();
}

TEST_F(Tender, WhoIsNotWaitedForIsLeftAloneForAWhile) {
  const Bytes out = content(medium);
  Request* send = world_.send(0, 1, 7, out);
  ASSERT_NO_FATAL_FAILURE(finish_alone(*send));
  Request* next = world_.send(0, 1, 7, out);
  EXPECT_TRUE(next == nullptr || next->state != RequestState::offered) << "it leaves as eager, at once";
  Bytes in(medium);
  for (int message = 0; message < 2; ++message) world_.finish(world_.receive(1, 0, 7, in));
  // And then it is tried again.
  for (int message = 0; message < 100 && reads.count == 0; ++message) {
    Request& receive = world_.receive(1, 0, 7, in);
    world_.send(0, 1, 7, out);
    world_.finish(receive);
  }
  EXPECT_GT(reads.count, 0);
  EXPECT_EQ(in, out);
}

TEST_F(Tender, IsNoneAnyMoreWhereTheLinkIsFaster) {
  const Bytes out = content(medium);
  Bytes in(medium);
  for (int message = 0; message < 1'000; ++message) {
    reads.before = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
    if (message == 500) reads.count = 0;
    Request& receive = world_.receive(1, 0, 7, in);
    Request* send = world_.send(0, 1, 7, out);
    world_.finish(receive);
    if (send != nullptr) world_.finish(*send);
    ASSERT_EQ(in, out);
    std::fill(in.begin(), in.end(), std::byte{0});
  }
  EXPECT_LE(reads.count, 8) << "but for a trial";
  expect_no_credit_lost();
}

// What the peer pulls meanwhile is no excuse for ever.
TEST_F(Tender, LeavesThoughThePeerPullsOtherMessages) {
  const Bytes out = content(medium), other = content(200'000, 2);
  Bytes in(other.size());
  Request* send = world_.send(0, 1, 7, out);
  for (int message = 0; message < 10'000 && send->state != RequestState::done; ++message) {
    Request& receive = world_.receive(1, 0, 8, in);
    Request* pulled = world_.send(0, 1, 8, other);
    world_.finish(receive);
    world_.finish(*pulled);
  }
  EXPECT_EQ(send->state, RequestState::done);
}

TEST_F(Tender, ManyThatNobodyPullsLeaveTogether) {
  const Bytes out = content(60'000);
  std::vector<Request*> sends;
  for (int i = 0; i < 50; ++i) sends.push_back(world_.send(0, 1, 7, out));
  int looks = 0;
  for (Request* send : sends)
    for (; send != nullptr && send->state != RequestState::done; ++looks) {
      ASSERT_LT(looks, 20'000);
      world_.step(0);
      if (looks > 5'000) world_.step(1);  // the ring is full
    }
  Bytes in(out.size());
  for (std::size_t i = 0; i < sends.size(); ++i) {
    world_.finish(world_.receive(1, 0, 7, in));
    EXPECT_EQ(in, out);
  }
  expect_no_credit_lost();
}

TEST_F(Tender, IsFilledBeforeAGoodbye) {
  const Bytes out = content(medium);
  Bytes in(medium);
  world_.send(0, 1, 7, out);
  world_.messengers[0]->leave(std::nullopt);
  world_.run_until([&] { return world_.messengers[1]->peer(0).state == PeerState::left; });
  Request& receive = world_.receive(1, 0, 7, in);
  EXPECT_EQ(receive.state, RequestState::done);
  EXPECT_TRUE(receive.status.ok());
  EXPECT_EQ(in, out);
}

TEST_F(Tender, IsFilledBeforeItsSenderSleeps) {
  const Bytes out = content(medium);
  Request* send = world_.send(0, 1, 7, out);
  EXPECT_EQ(world_.messengers[0]->lose_patience(), 1U);
  EXPECT_EQ(world_.messengers[0]->lose_patience(), 0U);
  ASSERT_NO_FATAL_FAILURE(finish_alone(*send));
  Bytes in(medium);
  world_.finish(world_.receive(1, 0, 7, in));
  EXPECT_EQ(in, out);
}

}  // namespace
}  // namespace parley::transport::shm::testing
