// Large messages that their receiver may pull or be sent: who is first, and what comes of it.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "tests/unit/protocol/pretend_mover.h"
#include "tests/unit/protocol/world_of_messengers.h"

namespace parley::transport {
namespace {

using base::Code;
using Bytes = std::vector<std::byte>;

constexpr std::size_t large_bytes = 50'000;
constexpr int more_looks_than_patience = 5'000;

Bytes content(int salt) {
  Bytes made(large_bytes);
  for (std::size_t i = 0; i < made.size(); ++i)
    made[i] = static_cast<std::byte>(i * 31 + (i >> 9) * 7 + static_cast<std::size_t>(salt) * 101);
  return made;
}

// Rank 0 sends to rank 1, whose next message is invited.
class Routing : public ::testing::Test {
 protected:
  Routing() {
    for (std::uint32_t rank = 0; rank < 2; ++rank)
      world_.messengers[rank]->set_mover(1 - rank, movers_[rank]);
    for (std::uint32_t i = 0; i < PathChoice::first_trial_after; ++i) {
      EXPECT_TRUE(begin(static_cast<int>(i)));
      EXPECT_FALSE(is_invited());
      end();
    }
  }
  ~Routing() override {
    for (const PretendMover& mover : movers_) EXPECT_FALSE(mover.wrong());
  }

  // A message is offered and matched, and the sender has not looked since. False: it could not be sent.
  bool begin(int salt) {
    out_ = content(salt);
    receive_ = &world_.receive(1, 0, 7, in_);
    send_ = world_.send(0, 1, 7, out_).request;
    if (send_ == nullptr) return false;
    while (receive_->state != RequestState::moving) world_.progress(1);
    return true;
  }
  [[nodiscard]] bool is_invited() const {
    return receive_->route != nullptr && receive_->route->path == Path::link;
  }
  // Both go on to the end, and the message is whole.
  void end() {
    for (int looks = 0; receive_->state != RequestState::done || send_->state != RequestState::done;
         ++looks) {
      ASSERT_LT(looks, 100'000) << "it did not come";
      world_.progress(0);
      world_.progress(1);
      movers_[1].step();
    }
    EXPECT_TRUE(receive_->status.ok());
    EXPECT_TRUE(send_->status.ok());
    EXPECT_EQ(in_, out_);
    release();
  }
  void release() {
    world_.messengers[0]->release(*send_);
    world_.messengers[1]->release(*receive_);
  }
  // The receiver alone.
  void look_in_vain() {
    for (int looks = 0; looks < more_looks_than_patience; ++looks) world_.progress(1);
  }

  PretendBoard board_;
  PretendMover movers_[2]{PretendMover(board_), PretendMover(board_)};
  WorldOfMessengers world_{2, {}, {.eager_limit_bytes = 64, .piece_bytes = 16'000, .routed_bytes = 1'000}};
  Bytes out_, in_ = Bytes(large_bytes);
  Request* receive_ = nullptr;
  Request* send_ = nullptr;
};

TEST_F(Routing, WhoLooksAtTheNetworkIsAskedForTheData) {
  ASSERT_TRUE(begin(9));
  EXPECT_TRUE(is_invited());
  for (int i = 0; i < 20; ++i) {
    world_.progress(0);
    world_.progress(1);
  }
  EXPECT_EQ(receive_->state, RequestState::done);
  EXPECT_TRUE(board_.offers.back().withdrawn);
  EXPECT_FALSE(movers_[1].step());
  end();
}

TEST_F(Routing, WhoIsPulledFromAfterAnInvitationHasNothingToAnswer) {
  ASSERT_TRUE(begin(9));
  look_in_vain();
  ASSERT_TRUE(movers_[1].step());
  const std::uint64_t calls = world_.messengers[0]->link_calls();
  end();
  for (int i = 0; i < 4; ++i) {
    world_.progress(1);
    world_.progress(0);
  }
  EXPECT_EQ(world_.messengers[0]->link_calls(), calls)
      << "both grants say that it was pulled, or came too late";
}

TEST_F(Routing, WhoDoesNotIsPulledFrom) {
  ASSERT_TRUE(begin(9));
  const std::uint64_t calls = world_.messengers[1]->link_calls();
  look_in_vain();
  EXPECT_EQ(world_.messengers[1]->link_calls(), calls + 1) << "the pull gives its transport work";
  EXPECT_TRUE(movers_[1].step());
  EXPECT_EQ(world_.messengers[1]->link_calls(), calls + 1) << "it is told when the pass ends";
  EXPECT_EQ(receive_->state, RequestState::done) << "the sender has done nothing for it";
  EXPECT_EQ(in_, out_);
  EXPECT_TRUE(board_.offers.back().taken);
  const std::uint32_t heard = world_.messengers[1]->peer(0).heard;
  end();
  EXPECT_EQ(world_.messengers[1]->peer(0).heard, heard) << "the sender has answered the grant";
  // And is not asked again soon.
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(begin(i));
    EXPECT_FALSE(is_invited());
    end();
  }
}

// Data that come late, by its background thread, take the core from what it computes.
TEST_F(Routing, WhoAnswersLateIsNotAskedAgainSoon) {
  ASSERT_TRUE(begin(9));
  ASSERT_TRUE(is_invited());
  while (base::Clock::now() - receive_->route->since.at < std::chrono::milliseconds(1)) {
  }
  end();
  EXPECT_TRUE(board_.offers.back().withdrawn);
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(begin(i));
    EXPECT_FALSE(is_invited());
    end();
  }
}

TEST_F(Routing, SoItIsBeforeASleep) {
  ASSERT_TRUE(begin(9));
  EXPECT_EQ(world_.messengers[1]->lose_patience(), 1U);
  EXPECT_EQ(world_.messengers[1]->lose_patience(), 0U);
  EXPECT_TRUE(movers_[1].step());
  EXPECT_EQ(receive_->state, RequestState::done);
  end();
}

// Where ranks share cores a sender that was asked may have none for a while.
TEST_F(Routing, WhoSharesACoreWaitsForAsLongAsAPullTakes) {
  constexpr base::Clock::time_point now(std::chrono::hours(1));
  constexpr auto at_last = now + std::chrono::hours(1);
  Messenger& receiver = *world_.messengers[1];
  ASSERT_TRUE(begin(9));
  ASSERT_TRUE(is_invited());
  EXPECT_FALSE(receiver.is_patient(now)) << "it has a core of its own";
  end();
  receiver.core_clock().share_core(true);
  EXPECT_FALSE(receiver.is_patient(now)) << "nobody was asked";
  ASSERT_TRUE(begin(10));
  ASSERT_TRUE(is_invited());
  EXPECT_TRUE(receiver.is_patient(now));
  EXPECT_FALSE(receiver.is_patient(at_last)) << "no news since";
  world_.messengers[1]->peer(0).moved_at = receive_->route->asked_at + 1;
  EXPECT_TRUE(receiver.is_patient(at_last)) << "other data have come";
  EXPECT_FALSE(receiver.is_patient(at_last + std::chrono::hours(1)));
  end();
}

TEST_F(Routing, ASenderThatComesDuringThePullIsFirst) {
  ASSERT_TRUE(begin(9));
  look_in_vain();
  world_.progress(0);
  EXPECT_TRUE(board_.offers.back().withdrawn);
  while (receive_->moved_bytes == 0) world_.progress(1);
  EXPECT_FALSE(movers_[1].step()) << "nobody reads any more";
  for (int i = 0; i < 20; ++i) {
    world_.progress(0);
    world_.progress(1);
  }
  EXPECT_EQ(receive_->state, RequestState::done) << "it waited for a pull that is void";
  end();
}

TEST_F(Routing, ASenderThatComesDuringThePullIsFirstEvenIfThatEnds) {
  ASSERT_TRUE(begin(9));
  look_in_vain();
  world_.progress(0);
  EXPECT_TRUE(movers_[1].step()) << "cancelled";
  EXPECT_EQ(receive_->state, RequestState::moving);
  end();
}

TEST_F(Routing, APullThatFailsLeavesTheGrantToBeAnswered) {
  ASSERT_TRUE(begin(9));
  look_in_vain();
  movers_[1].fails = true;
  EXPECT_TRUE(movers_[1].step());
  EXPECT_EQ(receive_->state, RequestState::moving);
  end();
}

TEST_F(Routing, WhatIsTakenBackGivesWayToTheNext) {
  ASSERT_TRUE(begin(9));
  EXPECT_TRUE(world_.messengers[0]->cancel(*send_, Code::cancelled));
  for (int i = 0; i < 20; ++i) {
    world_.progress(0);
    world_.progress(1);
  }
  EXPECT_EQ(receive_->state, RequestState::posted);
  EXPECT_EQ(receive_->route, nullptr);
  world_.messengers[0]->release(*send_);
  out_ = content(10);
  send_ = world_.send(0, 1, 7, out_).request;
  end();
}

TEST_F(Routing, SoDoesWhatIsTakenBackDuringThePull) {
  ASSERT_TRUE(begin(9));
  look_in_vain();
  EXPECT_TRUE(world_.messengers[0]->cancel(*send_, Code::cancelled));
  world_.messengers[0]->release(*send_);
  const Bytes other = content(10);
  out_ = other;
  send_ = world_.send(0, 1, 7, out_).request;
  // The next offer is here before the answer to the grant of the first, and has the receive already.
  for (int i = 0; i < 20; ++i) world_.progress(1);
  EXPECT_TRUE(movers_[1].step());
  EXPECT_FALSE(movers_[1].step()) << "what is taken back is still read";
  end();
}

TEST_F(Routing, AnAbortEndsAnInvitationAtOnce) {
  ASSERT_TRUE(begin(9));
  EXPECT_TRUE(world_.messengers[1]->abort_context(0, 1, "enough"));
  EXPECT_EQ(receive_->status.code(), Code::aborted);
  for (int i = 0; i < 50; ++i) {
    world_.progress(0);
    world_.progress(1);
  }
  EXPECT_EQ(send_->status.code(), Code::aborted);
  EXPECT_EQ(world_.messengers[0]->peer(1).state, PeerState::up);
  EXPECT_EQ(world_.messengers[1]->lose_patience(), 0U);
  release();
}

TEST_F(Routing, ALinkThatClosesEndsIt) {
  ASSERT_TRUE(begin(9));
  world_.messengers[0]->peer(1).endpoint->close();
  world_.settle();
  EXPECT_EQ(receive_->state, RequestState::done);
  EXPECT_TRUE(receive_->status.failed());
  EXPECT_EQ(world_.messengers[1]->lose_patience(), 0U);
  release();
}

}  // namespace
}  // namespace parley::transport
