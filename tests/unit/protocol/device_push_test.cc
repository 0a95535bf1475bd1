// Device memory that its sender copies to the place that the receiver has told of.
#include "tests/unit/protocol/device_messages.h"

namespace parley::transport {
namespace {

TEST_F(DeviceMessages, ArePushedWhereTheReceiverWantsThat) {
  use_movers();
  movers_[1].wants_pushes = true;
  for (const std::size_t bytes : {std::size_t{1}, large}) {
    for (const bool posted_first : {true, false}) {
      const PretendMemory& into = play(bytes, posted_first);
      EXPECT_EQ(board_.offers.back().memory, &into);
      EXPECT_EQ(board_.offers.back().state, State::taken);
      EXPECT_EQ(board_.offers[board_.offers.size() - 2].state, State::withdrawn) << "of the sender";
    }
  }
}

// Without a place to push to the receiver pulls, and without a sender that can push data come by the link.
TEST_F(DeviceMessages, FindAnotherWayThanAPush) {
  use_movers();
  movers_[1].wants_pushes = true;
  movers_[1].exposes_no_place = true;
  play(large);
  EXPECT_EQ(board_.offers.size(), 1U);
  EXPECT_EQ(board_.offers[0].state, State::taken);
  movers_[1].exposes_no_place = false;
  movers_[0].cannot_copy = true;
  play(large);
  EXPECT_EQ(board_.offers.back().state, State::withdrawn);
}

TEST_F(DeviceMessages, APlaceForWhatWasTakenBackIsTakenBackToo) {
  use_movers();
  movers_[1].wants_pushes = true;
  PretendMemory &from = memory(content(large)), &other = memory(content(large, 1)),
                &into = memory(Bytes(large));
  Request& received = receive(into);
  Request& sent = send(from);
  while (received.state != RequestState::moving) world_.progress(1);
  EXPECT_TRUE(world_.messengers[0]->cancel(sent, Code::cancelled));
  world_.settle();
  expect_done(sent, Code::cancelled);
  EXPECT_EQ(received.state, RequestState::posted);
  EXPECT_EQ(board_.offers.back().state, State::withdrawn);
  Request& again = send(other);
  world_.settle();
  expect_done(again);
  expect_done(received);
  EXPECT_EQ(into.memory, other.memory);
}

TEST_F(DeviceMessages, APushThatFailsIsToldToBoth) {
  use_movers();
  movers_[1].wants_pushes = true;
  device_.failure = {Code::device_failed, 700};
  PretendMemory &from = memory(content(large)), &into = memory(Bytes(large));
  Request& received = receive(into);
  Request& sent = send(from);
  world_.settle();
  expect_done(sent, Code::device_failed);
  expect_done(received, Code::device_failed);
  device_.failure = {};
  movers_[1].land_failure = {Code::device_failed, 700};
  Request& not_landed = receive(memory(Bytes(large)));
  Request& pushed = send(memory(content(large)));
  world_.settle();
  expect_done(pushed);
  expect_done(not_landed, Code::device_failed);
}

// The sender is at it, and about to say so: the memory is not given back before.
TEST_F(DeviceMessages, AnAbortWaitsForTheAnswerToATakenPlace) {
  Request& received = receive(memory(Bytes(large)));
  const Request& sent = push();
  ASSERT_EQ(board_.offers.back().state, State::taken);
  ASSERT_EQ(received.state, RequestState::moving);
  ASSERT_TRUE(world_.messengers[1]->abort_context(0, 1, "enough"));
  EXPECT_EQ(received.state, RequestState::moving);
  world_.settle();
  expect_done(sent);
  expect_done(received, Code::aborted);
}

TEST_F(DeviceMessages, AnAbortTakesAPlaceBack) {
  use_movers();
  movers_[1].wants_pushes = true;
  Request& received = receive(memory(Bytes(large)));
  send(memory(content(large)));
  while (received.state != RequestState::moving) world_.progress(1);
  ASSERT_TRUE(world_.messengers[1]->abort_context(0, 1, "enough"));
  expect_done(received, Code::aborted);
  EXPECT_EQ(board_.offers.back().state, State::withdrawn);
  world_.settle();
}

TEST_F(DeviceMessages, ADeadlineWhileAPlaceIsTakenClosesTheLink) {
  Request& received = receive(memory(Bytes(large)));
  push();
  ASSERT_EQ(received.state, RequestState::moving);
  const auto now = std::chrono::steady_clock::now();
  (void)world_.messengers[1]->tick(now);
  (void)world_.messengers[1]->tick(now + std::chrono::hours(2));
  world_.settle();
  expect_done(received, Code::timed_out);
  EXPECT_TRUE(movers_[1].has_ended);
  EXPECT_FALSE(movers_[1].peer_is_gone);
}

// Nothing of a sender that only pushes has to be taken back.
TEST_F(DeviceMessages, AnOfferToPushIsCancelledLikeOthers) {
  use_movers();
  movers_[0].only_pushes = true;
  movers_[1].wants_pushes = true;
  PretendMemory &other = memory(content(large, 1)), &into = memory(Bytes(large));
  Request& sent = send(memory(content(large)));
  EXPECT_TRUE(world_.messengers[0]->cancel(sent, Code::cancelled));
  expect_done(sent, Code::cancelled);
  Request& received = receive(into);
  Request& again = send(other);
  world_.settle();
  expect_done(again);
  expect_done(received);
  EXPECT_EQ(into.memory, other.memory);
  for (const auto& offer : board_.offers) EXPECT_EQ(offer.memory, &into) << "places alone";
}

TEST_F(DeviceMessages, AMoverIsLookedAfterUntilNothingWaits) {
  use_movers();
  movers_[0].looks_wanted = 3;
  world_.messengers[0]->peer(1).endpoint->close();
  world_.progress(0);
  ASSERT_TRUE(movers_[0].has_ended);
  const int before = movers_[0].looks_after_end;
  for (int i = 0; i < 5; ++i) (void)world_.messengers[0]->tick(std::chrono::steady_clock::now());
  EXPECT_LT(before, 3);
  EXPECT_EQ(movers_[0].looks_after_end, 3);
}

}  // namespace
}  // namespace parley::transport
