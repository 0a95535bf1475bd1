// One link for each peer, whoever dials, and when.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "tests/unit/protocol/linking_fixture.h"

namespace parley::transport {
namespace {

using base::Code;
using namespace std::chrono_literals;

TEST_F(Linking, IsBegunByTheFirstOperationThatNeedsThePeer) {
  receive(any_source);
  EXPECT_TRUE(dialled_.empty()) << "whoever sends will dial";
  send(0);
  send(0);
  receive(0);
  EXPECT_EQ(dialled_, std::vector<PeerId>{0});
  receive(2);
  EXPECT_EQ(dialled_, (std::vector<PeerId>{0, 2})) << "or its death would go unnoticed";
}

TEST_F(Linking, AnAbortIsToldToAll) {
  messenger_.abort_context(0, 1, "enough");
  EXPECT_EQ(dialled_, (std::vector<PeerId>{0, 2}));
  their_dial(2);
  EXPECT_EQ(kinds(theirs_), (std::vector{PacketKind::welcome, PacketKind::abort}));
}

// Nothing was dialled yet, so nothing crosses.
TEST_F(Linking, WhileAnAddressIsLookedForThePeersOwnDialIsWelcome) {
  messenger_.connect_on_demand([this](PeerId peer) { messenger_.await_address(peer); });
  send(0);
  their_dial(0);
  EXPECT_EQ(kinds(theirs_), (std::vector{PacketKind::welcome, PacketKind::eager}));
  messenger_.take_address(0);
  EXPECT_FALSE(messenger_.is_dialling());
  EXPECT_EQ(messenger_.peer(0).state, PeerState::up);
}

TEST_F(Linking, AnAddressThatIsFoundIsDialled) {
  bool is_known = false;
  messenger_.connect_on_demand([&](PeerId peer) {
    if (is_known) return dialled_.push_back(peer);
    messenger_.await_address(peer);
  });
  send(0);
  EXPECT_TRUE(messenger_.is_dialling());
  is_known = true;
  messenger_.take_address(0);
  messenger_.take_address(0);
  EXPECT_EQ(dialled_, std::vector<PeerId>{0});
}

TEST_F(Linking, AnAddressThatCannotBeHadIsLookedForAgain) {
  int times = 0;
  messenger_.connect_on_demand([&](PeerId peer) {
    ++times;
    messenger_.await_address(peer);
  });
  send(0);
  messenger_.lack_address(0, "nobody knows it");
  EXPECT_EQ(messenger_.peer(0).unreachable, "nobody knows it");
  EXPECT_EQ(times, 1);
  tick_for(3s);
  EXPECT_EQ(times, 2);
}

TEST_F(Linking, AnAbortOfOthersIsPassedOnOnLinksAlone) {
  messenger_.abort_context(0, 2, "enough");
  EXPECT_TRUE(dialled_.empty());
}

TEST_F(Linking, NothingLeavesBeforeTheWelcome) {
  send(0);
  our_dial(0);
  EXPECT_TRUE(ours_.sent.empty());
  EXPECT_EQ(messenger_.peer(0).state, PeerState::expected);
  answer(PacketKind::welcome);
  EXPECT_EQ(kinds(ours_), std::vector{PacketKind::eager});
  EXPECT_EQ(messenger_.peer(0).state, PeerState::up);
}

// A sender that waits goes on as soon as the link has taken it, and may never come back.
TEST_F(Linking, WhatHasWaitedForTheWelcomeIsNotHeldBack) {
  send(0);
  const Posted last = send(0);
  our_dial(0);
  answer(PacketKind::welcome);
  EXPECT_EQ(kinds(ours_), (std::vector{PacketKind::eager, PacketKind::eager}));
  EXPECT_EQ(last.request->state, RequestState::done);
  EXPECT_FALSE(ours_.held_back);
}

TEST_F(Linking, WhoIsDialledWelcomesAndSendsAtOnce) {
  their_dial(2);
  send(2);
  EXPECT_EQ(kinds(theirs_), (std::vector{PacketKind::welcome, PacketKind::eager}));
  EXPECT_TRUE(dialled_.empty());
}

TEST_F(Linking, OfTwoDialsTheOneOfTheHigherStays) {
  send(2);
  our_dial(2);
  their_dial(2);
  EXPECT_EQ(kinds(theirs_), (std::vector{PacketKind::welcome, PacketKind::eager}));
  EXPECT_TRUE(ours_.closed);
  EXPECT_TRUE(ours_.sent.empty());
}

TEST_F(Linking, ADialThatHasCrossedOursMayComeAfterTheGoodbye) {
  send(0);
  our_dial(0);
  answer(PacketKind::welcome);
  answer(PacketKind::goodbye);
  their_dial(0);
  ASSERT_EQ(kinds(theirs_), std::vector{PacketKind::turned_away});
  EXPECT_EQ(theirs_.sent.front().id, static_cast<std::uint32_t>(TurnedAway::crossed)) << "no second link";
}

TEST_F(Linking, OurDialIsForgottenIfItComesThroughTooLate) {
  send(2);
  their_dial(2);
  our_dial(2);
  EXPECT_TRUE(ours_.closed);
  EXPECT_FALSE(theirs_.closed);
}

TEST_F(Linking, OurDialStaysIfTheirsComesLater) {
  send(0);
  their_dial(0);  // ours is on its way
  ASSERT_EQ(kinds(theirs_), std::vector{PacketKind::turned_away});
  EXPECT_EQ(theirs_.sent[0].id, static_cast<std::uint32_t>(TurnedAway::crossed));
  EXPECT_TRUE(theirs_.closed);
  our_dial(0);
  answer(PacketKind::welcome);
  EXPECT_EQ(kinds(ours_), std::vector{PacketKind::eager});
}

TEST_F(Linking, WhoWasTurnedAwayDialsAgainIfTheOtherDialDoesNotCome) {
  send(2);
  our_dial(2);
  answer(PacketKind::turned_away, TurnedAway::crossed);
  EXPECT_TRUE(ours_.closed);
  tick_for(1s);
  EXPECT_EQ(dialled_.size(), 1U);
  tick_for(3s);
  EXPECT_EQ(dialled_.size(), 2U);
}

TEST_F(Linking, ASecondProcessOfANumberIsTurnedAway) {
  their_dial(2);
  ForgedLink second;
  messenger_.on_link(2, second);
  ASSERT_EQ(kinds(second), std::vector{PacketKind::turned_away});
  EXPECT_EQ(second.sent[0].id, static_cast<std::uint32_t>(TurnedAway::taken));
  EXPECT_TRUE(second.closed);
  EXPECT_FALSE(theirs_.closed) << "the first is left alone";
  messenger_.on_closed(second, Code::closed);
}

TEST_F(Linking, WhoIsTakenForASecondProcessIsTold) {
  const Posted sent = send(0);
  our_dial(0);
  answer(PacketKind::turned_away, TurnedAway::taken);
  EXPECT_EQ(sent.request->status.code(), Code::refused);
  EXPECT_NE(messenger_.peer(0).unreachable.find("our number"), std::string::npos);
}

TEST_F(Linking, ADialThatEndsWithoutAnAnswerIsMadeAgainWhileSomebodyWaits) {
  const Posted sent = send(0);
  our_dial(0);
  messenger_.on_closed(ours_, {Code::peer_died, ECONNRESET});
  EXPECT_EQ(sent.request->state, RequestState::queued);
  tick_for(3s);
  EXPECT_EQ(dialled_, (std::vector<PeerId>{0, 0}));
  messenger_.cancel(*sent.request, Code::cancelled);
  messenger_.on_unreachable(0, Code::timed_out, "silent");
  tick_for(5s);
  EXPECT_EQ(dialled_.size(), 2U) << "nobody waits";
}

TEST_F(Linking, AtWhoseAddressNobodyListensIsGone) {
  const Posted sent = send(0);
  const Posted any = receive(any_source);
  messenger_.on_unreachable(0, {Code::unreachable, ECONNREFUSED}, "connection refused");
  EXPECT_EQ(sent.request->status.code(), Code::gone);
  EXPECT_EQ(messenger_.peer(0).unreachable, "connection refused");
  EXPECT_EQ(send(0).status.code(), Code::gone) << "and stays so";
  EXPECT_EQ(any.request->state, RequestState::posted) << "it may have left in good order";
  EXPECT_EQ(messenger_.dead_process(), std::nullopt);
}

// What the dialler says when from first to last nothing was there.
TEST_F(Linking, AHostThatIsSilentOrHasNoRouteToItIsGone) {
  const Posted sent = send(0);
  messenger_.on_unreachable(0, {Code::unreachable, ETIMEDOUT}, "no answer");
  EXPECT_EQ(sent.request->status.code(), Code::gone);
  EXPECT_EQ(messenger_.peer(0).unreachable, "no answer");
  const Posted received = receive(2);
  messenger_.on_unreachable(2, {Code::unreachable, EHOSTUNREACH}, "no route");
  EXPECT_EQ(received.request->status.code(), Code::gone);
  EXPECT_EQ(messenger_.dead_process(), std::nullopt);
}

TEST_F(Linking, AProcessThatDoesNotAnswerTheHandshakeMayBeStoppedOnly) {
  const Posted sent = send(0);
  messenger_.on_unreachable(0, {Code::timed_out, ETIMEDOUT}, "connected, but no answer to the handshake");
  EXPECT_EQ(sent.request->state, RequestState::queued);
  tick_for(3s);
  EXPECT_EQ(dialled_, (std::vector<PeerId>{0, 0}));
  messenger_.on_unreachable(0, {Code::unreachable, ECONNRESET}, "closed in the handshake");
  EXPECT_EQ(sent.request->state, RequestState::queued);
}

TEST_F(Linking, OurOwnShortageIsNotThePeersDeath) {
  const Posted sent = send(0);
  messenger_.on_unreachable(0, {Code::unreachable, EMFILE}, "too many open files");
  EXPECT_EQ(sent.request->status.code(), Code::exhausted);
  EXPECT_EQ(messenger_.peer(0).state, PeerState::expected);
  send(0);
  tick_for(3s);
  EXPECT_EQ(dialled_.size(), 2U);
}

TEST_F(Linking, WhoseDialHasFailedWelcomesTheOther) {
  send(0);
  messenger_.on_unreachable(0, Code::timed_out, "silent");
  their_dial(0);
  EXPECT_EQ(kinds(theirs_), (std::vector{PacketKind::welcome, PacketKind::eager}));
}

TEST_F(Linking, WhoLinksAfterAnAbortHearsOfIt) {
  messenger_.abort_context(7, 2, "enough");
  their_dial(0);
  EXPECT_EQ(kinds(theirs_), (std::vector{PacketKind::welcome, PacketKind::abort}));
}

TEST_F(Linking, AnAbortIsOwedUntilAllAreToldOrGone) {
  messenger_.abort_context(0, 1, "enough");
  EXPECT_TRUE(messenger_.owes_aborts());
  their_dial(2);
  EXPECT_TRUE(messenger_.owes_aborts());
  messenger_.on_unreachable(0, {Code::unreachable, ECONNREFUSED}, "connection refused");
  EXPECT_FALSE(messenger_.owes_aborts());
}

TEST_F(Linking, WhoComesWhileWeLeaveGetsAGoodbye) {
  messenger_.leave(std::nullopt);
  their_dial(2);
  EXPECT_EQ(kinds(theirs_), (std::vector{PacketKind::welcome, PacketKind::goodbye}));
  send(0);
  EXPECT_TRUE(dialled_.empty());
}

TEST_F(Linking, ADialWithoutAnAnswerIsNoGoodOrderToLeaveIn) {
  send(0);
  our_dial(0);
  messenger_.leave(std::nullopt);
  EXPECT_FALSE(messenger_.drained());
  answer(PacketKind::welcome);
  EXPECT_EQ(ours_.sent.back().kind, PacketKind::goodbye);
  EXPECT_TRUE(messenger_.drained());
}

TEST_F(Linking, AProbeThatNamesAPeerNeedsIt) {
  EXPECT_EQ(messenger_.peek({0, any_source, 0}), nullptr);
  EXPECT_TRUE(dialled_.empty());
  EXPECT_EQ(messenger_.peek({0, 2, 0}), nullptr);
  EXPECT_EQ(dialled_, std::vector<PeerId>{2});
}

TEST_F(Linking, AnythingElseThanAnAnswerIsAViolation) {
  const Posted sent = send(0);
  our_dial(0);
  answer(PacketKind::credit);
  EXPECT_TRUE(ours_.closed);
  EXPECT_EQ(sent.request->status.code(), Code::protocol_violation);
}

TEST_F(Linking, NobodyElseHasOurNumber) {
  ForgedLink liar;
  messenger_.on_link(1, liar);
  EXPECT_TRUE(liar.closed);
  messenger_.on_closed(liar, Code::closed);
}

TEST_F(Linking, ASearchIsMadeWhileSomebodyWaitsForAnySource) {
  int searches = 0;
  messenger_.set_search([&] { ++searches; });
  receive(0);
  tick_for(2s);
  EXPECT_EQ(searches, 0) << "a link will tell";
  const Posted any = receive(any_source);
  tick_for(400ms);
  EXPECT_EQ(searches, 0) << "it may end soon";
  tick_for(2s);
  EXPECT_GT(searches, 0);
  messenger_.cancel(*any.request, Code::cancelled);
  searches = 0;
  tick_for(2s);
  EXPECT_EQ(searches, 0);
  (void)messenger_.peek({0, any_source, 0});
  tick_for(0s);
  EXPECT_EQ(searches, 1) << "a probe";
}

TEST_F(Linking, TheDeathOfAPeerThatWasNeverMetEndsReceivesFromAnySourceOnce) {
  const Posted any = receive(any_source);
  messenger_.note_fate(2, Code::peer_died, 0);
  EXPECT_EQ(any.request->status.code(), Code::peer_died);
  EXPECT_EQ(messenger_.dead_process(), 0U) << "because of whom it left";
  EXPECT_EQ(receive(2).request->status.code(), Code::peer_died);
  messenger_.acknowledge_failures(0);
  const Posted later = receive(any_source);
  messenger_.note_fate(2, Code::peer_died, 0);
  EXPECT_EQ(later.request->state, RequestState::posted);
  EXPECT_TRUE(dialled_.empty());
}

TEST_F(Linking, WhoLeftInGoodOrderAndWasNeverMetEndsNothingElse) {
  const Posted any = receive(any_source);
  messenger_.note_fate(2, Code::peer_left, 2);
  EXPECT_EQ(any.request->state, RequestState::posted);
  EXPECT_EQ(receive(2).request->status.code(), Code::peer_left);
}

TEST_F(Linking, WhatBecameOfAPeerThatIsGoneIsLearntLater) {
  const Posted any = receive(any_source);
  for (const PeerId peer : {0U, 2U}) {
    send(peer);
    messenger_.on_unreachable(peer, {Code::unreachable, ECONNREFUSED}, "connection refused");
  }
  messenger_.note_fate(0, Code::peer_left, 0);
  EXPECT_EQ(any.request->state, RequestState::posted);
  messenger_.note_fate(2, Code::peer_died, 2);
  EXPECT_EQ(any.request->status.code(), Code::peer_died);
  EXPECT_EQ(messenger_.dead_process(), 2U);
}

// There may be messages in it.
TEST_F(Linking, WhatBecameOfAPeerIsToldByALinkOrADialIfThereIsOne) {
  const Posted any = receive(any_source);
  their_dial(2);
  send(0);
  our_dial(0);
  for (const PeerId peer : {0U, 2U}) messenger_.note_fate(peer, Code::peer_died, peer);
  EXPECT_EQ(any.request->state, RequestState::posted);
  answer(PacketKind::welcome);
  EXPECT_EQ(messenger_.peer(0).state, PeerState::up);
}

TEST_F(Linking, WhatIsPendingEndsWithTheWorld) {
  const Posted sent = send(0);
  const Posted any = receive(any_source);
  messenger_.leave(std::nullopt);
  messenger_.end();
  EXPECT_EQ(sent.request->status.code(), Code::closed);
  EXPECT_EQ(any.request->status.code(), Code::closed);
}

}  // namespace
}  // namespace parley::transport
