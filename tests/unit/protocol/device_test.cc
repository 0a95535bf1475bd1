// Memory that no CPU reaches: pulled, or by way of the host; and what becomes of it when something ends
// early.
#include <chrono>
#include <vector>

#include "tests/unit/protocol/device_messages.h"

namespace parley::transport {
namespace {

TEST_F(DeviceMessages, ArePulledWhereThereIsAMover) {
  use_movers();
  for (const std::size_t bytes : {std::size_t{1}, large}) {
    for (const bool posted_first : {true, false}) {
      play(bytes, posted_first);
      EXPECT_EQ(board_.offers.back().state, State::taken);
    }
  }
}

TEST_F(DeviceMessages, GoByTheLinkWhereNothingIsExposedOrPulled) {
  const std::vector<std::function<void()>> ways{[] {},
                                                [&] {
                                                  use_movers();
                                                  movers_[1].cannot_copy = true;
                                                },
                                                [&] { movers_[0].exposes_nothing = true; }};
  for (const auto& way : ways) {
    way();
    for (const bool has_room : {true, false}) {
      device_.has_room = has_room;
      play(large);
    }
  }
}

TEST_F(DeviceMessages, MeetMessagesOfTheHost) {
  use_movers();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, large, std::size_t{200'000}}) {
    for (const bool posted_first : {true, false}) {
      PretendMemory& into = memory(Bytes(bytes));
      const Bytes out = content(bytes);
      Request* received = posted_first ? &receive(into) : nullptr;
      SendSpec spec{.destination = 1, .tag = 1, .data = out.data(), .bytes = bytes};
      spec.timeout = std::chrono::hours(1);
      const Posted posted = world_.messengers[0]->send(spec);
      if (posted.request != nullptr) keep(*posted.request, 0);
      world_.settle();
      if (!posted_first) received = &receive(into);
      world_.settle();
      expect_done(*received);
      EXPECT_EQ(into.memory, out);

      PretendMemory& from = memory(content(bytes, 1));
      Bytes in(bytes);
      Request& sent = send(from);
      Request& on_host = receive_on_host(in);
      world_.settle();
      expect_done(sent);
      expect_done(on_host);
      EXPECT_EQ(in, from.memory);
    }
  }
}

TEST_F(DeviceMessages, OneThatIsStillReadHoldsNobodyUp) {
  device_.is_ready = false;
  PretendMemory &from = memory(content(large)), &into = memory(Bytes(large));
  const Bytes out = content(300'000, 2);
  Bytes in(out.size());
  Request& received = receive(into, 1);
  Request& sent = send(from, 1);
  world_.settle();
  Request& on_host = receive_on_host(in, 2);
  Request& from_host = send_from_host(out, 2);
  world_.settle();
  expect_done(from_host);
  expect_done(on_host);
  EXPECT_EQ(in, out);
  EXPECT_EQ(sent.state, RequestState::streaming);
  EXPECT_TRUE(world_.messengers[0]->awaits_device());
  device_.is_ready = true;
  world_.settle();
  expect_done(sent);
  expect_done(received);
  EXPECT_EQ(into.memory, from.memory);
  EXPECT_FALSE(world_.messengers[0]->awaits_device());
}

// Its caller may hold it for long, and do with the memory what it wants.
TEST_F(DeviceMessages, OneThatHasEndedIsReadNoMore) {
  device_.is_ready = false;
  PretendMemory &from = memory(content(large)), &into = memory(Bytes(large));
  Request& received = receive(into);
  Request& sent = send(from);
  world_.settle();
  EXPECT_TRUE(from.is_read);
  ASSERT_TRUE(world_.messengers[0]->abort_context(0, 0, "enough"));
  EXPECT_EQ(sent.state, RequestState::done);
  EXPECT_FALSE(from.is_read);
  world_.settle();
  expect_done(sent, Code::aborted);
  expect_done(received, Code::aborted);
}

TEST_F(DeviceMessages, ATakenOfferIsNotTakenBack) {
  Request& sent = lend(memory(content(large)), memory(Bytes(large)));
  EXPECT_FALSE(world_.messengers[0]->cancel(sent, Code::cancelled));
  EXPECT_EQ(sent.state, RequestState::lent);
  world_.settle();
  expect_done(sent);
}

TEST_F(DeviceMessages, ADeadlineWhileTheMemoryIsLentClosesTheLink) {
  Request& sent = lend(memory(content(large)), memory(Bytes(large)));
  const auto now = std::chrono::steady_clock::now();
  (void)world_.messengers[0]->tick(now);
  (void)world_.messengers[0]->tick(now + std::chrono::hours(2));
  world_.settle();
  expect_done(sent, Code::timed_out);
  EXPECT_TRUE(movers_[0].has_ended);
}

TEST_F(DeviceMessages, AnAbortWaitsForTheAnswerToALentOne) {
  Request& sent = lend(memory(content(large)), memory(Bytes(large)));
  ASSERT_TRUE(world_.messengers[0]->abort_context(0, 0, "enough"));
  EXPECT_EQ(sent.state, RequestState::lent);
  world_.settle();
  expect_done(sent, Code::aborted);
}

TEST_F(DeviceMessages, APeerThatDiesEndsALentOne) {
  Request& sent = lend(memory(content(large)), memory(Bytes(large)));
  world_.messengers[0]->peer(1).endpoint->close();
  while (sent.state != RequestState::done) world_.progress(0);
  EXPECT_TRUE(sent.status.failed());
}

TEST_F(DeviceMessages, AnOfferThatIsTakenBackIsNeverPulled) {
  use_movers();
  PretendMemory &from = memory(content(large)), &other = memory(content(large, 1)),
                &into = memory(Bytes(large));
  Request& sent = send(from);
  EXPECT_TRUE(world_.messengers[0]->cancel(sent, Code::cancelled));
  expect_done(sent, Code::cancelled);
  // It may be that the receiver sees the offer before it hears that it was taken back.
  Request& received = receive(into);
  world_.settle();
  EXPECT_EQ(received.state, RequestState::posted);
  Request& again = send(other);
  world_.settle();
  expect_done(again);
  expect_done(received);
  EXPECT_EQ(into.memory, other.memory);
}

TEST_F(DeviceMessages, ADeviceThatFailsInTheMiddleEndsTheLink) {
  PretendMemory &from = memory(content(large)), &into = memory(Bytes(large));
  device_.is_ready = false;
  Request& received = receive(into);
  Request& sent = send(from);
  world_.settle();
  device_.failure = {Code::device_failed, 700};
  world_.settle();
  expect_done(sent, Code::device_failed);
  expect_done(received, Code::given_up);
}

TEST_F(DeviceMessages, AReceiversDeviceThatFailsEndsItsReceiveAlone) {
  PretendDevice broken{.failure = {Code::device_failed, 700}};
  for (const bool is_pulled : {false, true}) {
    if (is_pulled) use_movers();
    PretendMemory& from = memory(content(large));
    PretendMemory into(broken, Bytes(large));
    Request& received = receive(into);
    Request& sent = send(from);
    world_.settle();
    expect_done(sent);
    expect_done(received, Code::device_failed);
    forget(received, 1);
  }
  EXPECT_EQ(broken.live, 0);
  EXPECT_EQ(broken.places_out, 0U);
  const Bytes out = content(large);
  Bytes in(large);
  Request& on_host = receive_on_host(in, 9);
  send_from_host(out, 9);
  world_.settle();
  expect_done(on_host);
}

TEST_F(DeviceMessages, WhatDoesNotFitTouchesNoMemory) {
  use_movers();
  PretendMemory &from = memory(content(large)), &into = memory(Bytes(large - 1));
  Request& received = receive(into);
  Request& sent = send(from);
  world_.settle();
  expect_done(sent);
  expect_done(received, Code::truncated);
  EXPECT_EQ(into.memory, Bytes(large - 1));
}

// Links that refuse, delay and split.
class DeviceMessagesOverABadLink : public DeviceMessages {
 protected:
  DeviceMessagesOverABadLink()
      : DeviceMessages({.seed = 5, .delay_permille = 300, .refuse_permille = 400, .split_permille = 500}) {}
};

TEST_F(DeviceMessagesOverABadLink, ArriveInOrderWithTheirNotesFirst) {
  enum class Way { link, pull, push };
  for (const Way way : {Way::link, Way::pull, Way::push}) {
    if (way != Way::link) use_movers();
    movers_[1].wants_pushes = way == Way::push;
    std::vector<PretendMemory*> intos;
    std::vector<Request*> all;
    constexpr int messages = 60;
    for (int i = 0; i < messages; ++i) {
      all.push_back(&send(memory(content(1000 + 997 * static_cast<std::size_t>(i), i)), 5));
      if (i % 3 == 0) world_.progress(0);
    }
    for (int i = 0; i < messages; ++i) {
      intos.push_back(&memory(Bytes(1000 + 997 * static_cast<std::size_t>(i))));
      all.push_back(&receive(*intos.back(), 5));
      if (i % 5 == 0) world_.progress(1);
    }
    world_.settle();
    for (const Request* request : all) expect_done(*request);
    for (int i = 0; i < messages; ++i)
      EXPECT_EQ(intos[static_cast<std::size_t>(i)]->memory,
                content(1000 + 997 * static_cast<std::size_t>(i), i));
  }
}

}  // namespace
}  // namespace parley::transport
