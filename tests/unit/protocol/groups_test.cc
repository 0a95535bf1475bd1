// Contexts of some processes only.
#include <array>

#include "tests/unit/protocol/forged_link.h"
#include "tests/unit/protocol/message_bytes.h"
#include "tests/unit/protocol/world_of_messengers.h"

namespace parley::transport {
namespace {

using base::Code;

constexpr std::uint32_t context = 11;

// Four processes; 0, 1 and 2 are of the context.
class Groups : public testing::Test {
 protected:
  Groups() {
    for (std::uint32_t rank = 0; rank < 3; ++rank) open(rank);
  }
  void open(std::uint32_t rank) {
    const std::array<std::uint32_t, 3> members{0, 1, 2};
    ASSERT_TRUE(world_.messengers[rank]->open_context(context, members));
  }
  Messenger& at(std::uint32_t rank) { return *world_.messengers[rank]; }
  void expect_end(std::uint32_t rank, Request& request, Code code) {
    EXPECT_EQ(request.state, RequestState::done);
    EXPECT_EQ(request.status.code(), code);
    at(rank).release(request);
  }
  std::size_t unmatched(std::uint32_t rank) {
    std::size_t count = 0;
    at(rank).visit_unmatched(context, [&](const Unexpected&) { ++count; });
    return count;
  }

  WorldOfMessengers world_{4, {}, MessengerOptions{.first_group_context = 10}};
};

TEST_F(Groups, AReceiveFromAnySourceFailsForMembersOnly) {
  auto in = bytes(eager, 0);
  Request& in_group = world_.receive(0, any_source, 1, in, context);
  Request& in_world = world_.receive(0, any_source, 1, in);
  at(3).leave(3U);  // dies, as it were
  world_.settle();
  EXPECT_EQ(in_group.state, RequestState::posted);
  expect_end(0, in_world, Code::peer_died);
  EXPECT_FALSE(at(0).casualty_of(context));
  EXPECT_TRUE(at(0).casualty_of(0));
  at(2).leave(2U);
  world_.settle();
  expect_end(0, in_group, Code::peer_died);
  ASSERT_TRUE(at(0).casualty_of(context));
  EXPECT_EQ(at(0).casualty_of(context)->culprit, 2U);
}

// Rank 0 may leave after that without a word of rank 3.
TEST_F(Groups, ADeathIsOurReasonToLeaveOnlyIfSomethingOfOursHasEndedByIt) {
  auto in = bytes(eager, 0);
  Request& in_world = world_.receive(1, any_source, 1, in);
  Request& in_group = world_.receive(0, any_source, 1, in, context);
  at(3).leave(3U);
  world_.settle();
  expect_end(1, in_world, Code::peer_died);
  EXPECT_EQ(at(1).dead_process(), 3U);
  EXPECT_EQ(at(0).dead_process(), std::nullopt);
  EXPECT_EQ(at(2).dead_process(), std::nullopt);
  EXPECT_EQ(world_.send(2, 3, 1, bytes(eager)).status.code(), Code::peer_died);
  EXPECT_EQ(at(2).dead_process(), 3U);
  EXPECT_EQ(at(0).peek({context, any_source, 2}), nullptr);
  EXPECT_EQ(at(0).dead_process(), std::nullopt) << "it is not of the group";
  EXPECT_EQ(at(0).peek({0, any_source, 1}), nullptr);
  EXPECT_EQ(at(0).dead_process(), 3U);
  at(0).acknowledge_failures(0);
  EXPECT_EQ(at(0).dead_process(), std::nullopt);
  at(0).cancel(in_group, Code::cancelled);
  at(0).release(in_group);
}

TEST_F(Groups, AnAbortMayBeBecauseOfADeath) {
  auto in = bytes(eager, 0);
  Request& receive = world_.receive(0, 1, 1, in, context);
  at(1).abort_context(context, 1, "because of 3");
  world_.settle();
  expect_end(0, receive, Code::aborted);
  EXPECT_EQ(at(0).dead_process(), std::nullopt);
  at(3).leave(3U);
  world_.settle();
  EXPECT_EQ(at(0).dead_process(), 3U);
}

TEST_F(Groups, FailuresAreAcknowledgedForEachContext) {
  at(2).leave(2U);
  world_.settle();
  EXPECT_TRUE(at(0).receive_obstacle({context, any_source, 1}).failed());
  at(0).acknowledge_failures(0);
  EXPECT_FALSE(at(0).receive_obstacle({0, any_source, 1}).failed());
  EXPECT_TRUE(at(0).receive_obstacle({context, any_source, 1}).failed());
  at(0).acknowledge_failures(context);
  EXPECT_FALSE(at(0).receive_obstacle({context, any_source, 1}).failed());
}

TEST_F(Groups, WhoClosesEndsTheOperationsOfOthersWithIt) {
  auto in = bytes(eager, 0);
  const auto small = bytes(eager);
  const auto large = bytes(offered);
  Request& receive = world_.receive(0, 1, 1, in, context);
  Request& from_any = world_.receive(0, any_source, 1, in, context);
  Request& elsewhere = world_.receive(0, 1, 1, in);
  Request& large_send = *world_.send(0, 1, 2, large, false, context).request;
  Request& synchronous = *world_.send(0, 1, 2, small, true, context).request;
  Request& send_to_other = *world_.send(0, 2, 2, large, false, context).request;
  world_.send(1, 0, 3, small, false, context);
  at(1).close_context(context);
  world_.settle();
  expect_end(0, receive, Code::peer_left);
  expect_end(0, large_send, Code::peer_left);
  expect_end(0, synchronous, Code::peer_left);
  EXPECT_EQ(from_any.state, RequestState::posted);  // rank 2 may send yet
  EXPECT_EQ(elsewhere.state, RequestState::posted);
  EXPECT_EQ(send_to_other.state, RequestState::offered);
  EXPECT_EQ(unmatched(0), 1U) << "what was sent before stays";
  EXPECT_EQ(world_.send(0, 1, 2, small, false, context).status.code(), Code::peer_left);
  EXPECT_EQ(at(0).receive_obstacle({context, 1, 1}).code(), Code::peer_left);
  EXPECT_FALSE(at(0).receive_obstacle({0, 1, 1}).failed());
  for (Request* request : {&from_any, &elsewhere, &send_to_other}) {
    at(0).cancel(*request, Code::cancelled);
    at(0).release(*request);
  }
}

TEST_F(Groups, WhatComesForAClosedContextIsDroppedAndItsCreditGoesBack) {
  const auto small = bytes(eager);
  const auto large = bytes(offered);
  const std::int32_t full = at(0).peer(1).credit_units;
  world_.send(0, 1, 1, small, false, context);
  world_.settle();
  ASSERT_EQ(unmatched(1), 1U);
  world_.send(0, 1, 1, small, false, context);  // crosses the news
  Request& crossing = *world_.send(0, 1, 1, large, false, context).request;
  at(1).close_context(context);
  EXPECT_EQ(unmatched(1), 0U);
  world_.settle();
  EXPECT_EQ(unmatched(1), 0U);
  expect_end(0, crossing, Code::peer_left);
  EXPECT_EQ(at(0).peer(1).credit_units + at(1).peer(0).owed_units, full);
  EXPECT_EQ(at(1).peer(0).offers.size(), 0U);
}

// It had no link when we closed the context, and was not told.
TEST_F(Groups, WhoOffersOrWaitsInAClosedContextIsTold) {
  auto in = bytes(eager, 0);
  const auto large = bytes(offered);
  at(1).close_context(context);
  world_.settle();
  ASSERT_TRUE(at(3).open_context(context, std::array<std::uint32_t, 2>{1, 3}));  // 3 was never told
  Request& send = *world_.send(3, 1, 1, large, false, context).request;
  world_.settle();
  expect_end(3, send, Code::peer_left);
  at(3).close_context(context);

  ASSERT_TRUE(at(3).open_context(context + 1, std::array<std::uint32_t, 2>{1, 3}));
  ASSERT_TRUE(at(1).open_context(context + 1, std::array<std::uint32_t, 2>{0, 1}));
  at(1).close_context(context + 1);
  Request& receive = world_.receive(3, 1, 1, in, context + 1);
  world_.settle();
  EXPECT_EQ(receive.state, RequestState::posted);
  at(3).tell_stall(receive, false);
  world_.settle();
  expect_end(3, receive, Code::peer_left);
}

TEST_F(Groups, ADepartureThatComesBeforeTheContextIsOpenIsRemembered) {
  const std::array<std::uint32_t, 2> members{0, 1};
  ASSERT_TRUE(at(1).open_context(21, members));
  world_.send(1, 0, 1, bytes(eager), false, 21);
  at(1).close_context(21);
  world_.settle();
  ASSERT_TRUE(at(0).open_context(21, members));
  auto in = bytes(eager, 0);
  expect_end(0, world_.receive(0, 1, 1, in, 21), Code::ok);
  EXPECT_EQ(in, bytes(eager));
  expect_end(0, world_.receive(0, 1, 1, in, 21), Code::peer_left);
}

TEST_F(Groups, AnAbortGoesToMembersOnlyAndIsForgottenWithTheContext) {
  auto in = bytes(eager, 0);
  Request& receive = world_.receive(0, 2, 1, in, context);
  at(1).abort_context(context, 1, "enough");
  world_.settle();
  expect_end(0, receive, Code::aborted);
  EXPECT_NE(at(2).abort_record(context), nullptr);
  EXPECT_EQ(at(3).abort_record(context), nullptr);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    at(rank).close_context(context);
    EXPECT_EQ(at(rank).abort_record(context), nullptr);
  }
  world_.settle();
  for (std::uint32_t rank = 0; rank < 3; ++rank) EXPECT_EQ(at(rank).abort_record(context), nullptr);
}

TEST_F(Groups, AContextThatIsOpenedAfterTheDeathOfAMemberKnowsOfIt) {
  at(2).leave(2U);
  at(3).leave(std::nullopt);
  world_.settle();
  at(0).acknowledge_failures(0);
  ASSERT_TRUE(at(0).open_context(21, std::array<std::uint32_t, 3>{0, 1, 3}));
  EXPECT_FALSE(at(0).casualty_of(21)) << "3 left in good order";
  ASSERT_TRUE(at(0).open_context(22, std::array<std::uint32_t, 3>{0, 2, 3}));
  auto in = bytes(eager, 0);
  expect_end(0, world_.receive(0, any_source, 1, in, 22), Code::peer_died);
  at(0).acknowledge_failures(22);
  EXPECT_FALSE(at(0).receive_obstacle({22, any_source, 1}).failed());
}

TEST_F(Groups, AnAbortOfAContextThatIsNotOpenHereGoesToItsMembersWhenItIs) {
  const std::array<std::uint32_t, 3> members{0, 1, 2};
  ASSERT_TRUE(at(0).open_context(21, members));
  ASSERT_TRUE(at(1).open_context(21, std::array<std::uint32_t, 2>{0, 1}));  // so that 2 hears it from 0 only
  ASSERT_TRUE(at(2).open_context(21, members));
  ASSERT_TRUE(at(1).open_context(22, std::array<std::uint32_t, 2>{0, 1}));
  at(1).abort_context(21, 1, "enough");
  at(1).abort_context(22, 1, "enough");
  world_.settle();
  EXPECT_NE(at(2).abort_record(21), nullptr);
  ASSERT_NE(at(0).abort_record(22), nullptr);
  EXPECT_EQ(at(2).abort_record(22), nullptr) << "0 does not know whom it concerns";
  EXPECT_EQ(at(3).abort_record(21), nullptr);
  EXPECT_EQ(at(3).abort_record(22), nullptr);
  ASSERT_TRUE(at(0).open_context(22, members));
  world_.settle();
  EXPECT_NE(at(2).abort_record(22), nullptr);
  EXPECT_EQ(at(3).abort_record(22), nullptr);
}

// Rank 0 of three; the links are forged.
class GroupLinks : public testing::Test {
 protected:
  ~GroupLinks() override {
    for (ForgedLink& link : links_)
      if (link.user != nullptr) messenger_.on_closed(link, Code::closed);
  }
  void open(std::uint32_t number) {
    const std::array<std::uint32_t, 2> members{0, 1};
    ASSERT_TRUE(messenger_.open_context(number, members));
  }
  void say(std::uint32_t from, PacketHeader header) { messenger_.on_packet(links_[from], header, {}); }
  std::vector<PacketKind> kinds(std::uint32_t to) {
    std::vector<PacketKind> kinds;
    for (const PacketHeader& header : links_[to].sent) kinds.push_back(header.kind);
    return kinds;
  }

  std::array<ForgedLink, 3> links_;
  Messenger messenger_{MessengerOptions{.self = 0, .peer_count = 3, .first_group_context = 10}};
};

// Else the sender would take a message for lost that was received.
TEST_F(GroupLinks, ADepartureComesBehindTheAnswersThatWait) {
  messenger_.on_link(1, links_[1]);
  open(context);
  std::vector<std::byte> in(eager);
  ReceiveSpec spec;
  spec.pattern = {context, 1, 1};
  spec.data = in.data();
  spec.capacity_bytes = in.size();
  spec.timeout = std::chrono::hours(1);
  Request& request = *messenger_.receive(spec).request;
  links_[1].refuses = true;
  say(1, {.kind = PacketKind::offer, .context = context, .tag = 1, .id = 7, .message_bytes = offered});
  ASSERT_EQ(request.status.code(), Code::truncated);  // the answer waits: nothing is wanted
  messenger_.release(request);
  messenger_.close_context(context);
  links_[1].sent.clear();
  links_[1].refuses = false;
  messenger_.on_writable(links_[1]);
  EXPECT_EQ(kinds(1), (std::vector{PacketKind::grant, PacketKind::departed}));
}

TEST_F(GroupLinks, WhoLinksAfterWeHaveClosedAContextIsTold) {
  open(context);
  messenger_.close_context(context);
  messenger_.on_link(2, links_[2]);
  EXPECT_EQ(kinds(2), std::vector{PacketKind::welcome});
  messenger_.on_link(1, links_[1]);
  EXPECT_EQ(kinds(1), (std::vector{PacketKind::welcome, PacketKind::departed}));
  EXPECT_EQ(links_[1].sent.back().context, context);
}

TEST_F(GroupLinks, WhoAsksAgainAndAgainInClosedContextsIsNotedOnce) {
  messenger_.on_link(1, links_[1]);
  links_[1].refuses = true;
  for (std::uint32_t i = 0; i <= max_told_departures; ++i) {
    ASSERT_TRUE(messenger_.open_context(context + i, std::array<std::uint32_t, 2>{0, 2}));
    messenger_.close_context(context + i);
  }
  for (std::uint32_t i = 0; i < max_told_departures; ++i)
    say(1, {.kind = PacketKind::stall, .context = context + i});
  for (std::uint32_t i = 0; i < 100; ++i)
    say(1, {.kind = PacketKind::offer, .context = context + i, .id = i + 1, .message_bytes = 1});
  EXPECT_EQ(messenger_.peer(1).departed_contexts.size(), max_told_departures);
  EXPECT_FALSE(links_[1].closed);
  say(1, {.kind = PacketKind::stall, .context = context + max_told_departures});
  EXPECT_TRUE(links_[1].closed);
}

TEST_F(GroupLinks, AnAbortOutlivesItsContextUntilTheMembersAreTold) {
  messenger_.connect_on_demand([](PeerId) {});
  messenger_.on_link(2, links_[2]);
  open(context);
  open(context + 1);
  messenger_.abort_context(context, 0, "enough");
  messenger_.abort_context(context + 1, 2, "enough");  // to be told by 2 itself
  messenger_.close_context(context);
  messenger_.close_context(context + 1);
  EXPECT_NE(messenger_.abort_record(context), nullptr);
  EXPECT_EQ(messenger_.abort_record(context + 1), nullptr);
  EXPECT_TRUE(messenger_.owes_aborts());
  messenger_.on_link(1, links_[1]);
  EXPECT_EQ(kinds(1), (std::vector{PacketKind::welcome, PacketKind::abort, PacketKind::departed,
                                   PacketKind::departed}));
  EXPECT_EQ(kinds(2), std::vector{PacketKind::welcome});
  EXPECT_EQ(messenger_.abort_record(context), nullptr);
  EXPECT_FALSE(messenger_.owes_aborts());
}

TEST_F(GroupLinks, AnAbortThatCannotBeToldAnyMoreIsForgottenWithItsContext) {
  messenger_.on_link(1, links_[1]);
  links_[1].refuses = true;
  open(context);
  messenger_.abort_context(context, 0, "enough");
  messenger_.close_context(context);
  EXPECT_NE(messenger_.abort_record(context), nullptr);
  messenger_.on_closed(links_[1], Code::peer_died);
  links_[1].user = nullptr;
  EXPECT_EQ(messenger_.abort_record(context), nullptr);
}

}  // namespace
}  // namespace parley::transport
