// One link for each peer, whoever dials, and when.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "tests/unit/protocol/forged_link.h"
#include "transport/protocol/messenger.h"

namespace parley::transport {
namespace {

using base::Code;
using namespace std::chrono_literals;

// Process 1 of three; 0 and 2 are the test.
class Linking : public testing::Test {
 protected:
  Linking() {
    messenger_.connect_on_demand([this](PeerId peer) { dialled_.push_back(peer); });
  }
  ~Linking() override {
    for (ForgedLink* link : {&ours_, &theirs_}) messenger_.on_closed(*link, Code::closed);
    for (Request* request : requests_) messenger_.release(*request);
  }

  Posted send(std::uint32_t to) {
    SendSpec spec;
    spec.destination = to;
    spec.data = &byte_;
    spec.bytes = 1;
    spec.timeout = std::chrono::hours(1);
    return keep(messenger_.send(spec));
  }
  Posted receive(std::uint32_t from) {
    ReceiveSpec spec;
    spec.pattern = {0, from, 0};
    spec.data = &byte_;
    spec.capacity_bytes = 1;
    spec.timeout = std::chrono::hours(1);
    return keep(messenger_.receive(spec));
  }
  Posted keep(Posted posted) {
    if (posted.request != nullptr) requests_.push_back(posted.request);
    return posted;
  }
  // Our dial has come through to the peer, which has yet to answer; or the peer's to us.
  void our_dial(PeerId peer) {
    ours_.dialled = true;
    messenger_.on_link(peer, ours_);
  }
  void their_dial(PeerId peer) { messenger_.on_link(peer, theirs_); }
  void answer(PacketKind kind, TurnedAway why = {}) {
    PacketHeader header{.kind = kind};
    header.id = static_cast<std::uint32_t>(why);
    messenger_.on_packet(ours_, header, {});
  }
  void tick_for(std::chrono::milliseconds time) {
    const auto now = std::chrono::steady_clock::now();
    for (auto passed = 0ms; passed <= time; passed += 100ms) messenger_.tick(now + passed);
  }
  static std::vector<PacketKind> kinds(const ForgedLink& link) {
    std::vector<PacketKind> kinds;
    for (const PacketHeader& header : link.sent) kinds.push_back(header.kind);
    return kinds;
  }

  ForgedLink ours_;
  ForgedLink theirs_;
  Messenger messenger_{MessengerOptions{.self = 1, .peer_count = 3}};
  std::vector<PeerId> dialled_;
  std::vector<Request*> requests_;
  std::byte byte_{};
};

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

// The records of the others, and with them most of a world's memory, are for those that one has to do with.
TEST_F(Linking, MakesNoRecordOfAPeerThatNobodyNeeds) {
  receive(any_source);
  send(0);
  tick_for(3s);
  EXPECT_TRUE(messenger_.known_peers().is_made(0));
  EXPECT_FALSE(messenger_.known_peers().is_made(2));
  EXPECT_FALSE(messenger_.is_alone());
}

// No record was made that could say so.
TEST_F(Linking, AtTheEndNobodyComesAnyMoreOfThoseThatWereNeverMet) {
  const std::vector<std::uint32_t> members{1, 2};
  ASSERT_TRUE(messenger_.open_context(40, members));
  const Posted in_world = receive(any_source);
  ReceiveSpec spec;
  spec.pattern = {40, any_source, 0};
  spec.data = &byte_;
  spec.capacity_bytes = 1;
  const Posted in_group = keep(messenger_.receive(spec));
  messenger_.end();
  EXPECT_EQ(in_world.request->status.code(), Code::closed);
  EXPECT_EQ(in_group.request->status.code(), Code::closed);
  EXPECT_EQ(send(2).status.code(), Code::closed);
}

TEST_F(Linking, AnAbortIsToldToAll) {
  messenger_.abort_context(0, 1, "enough");
  EXPECT_EQ(dialled_, (std::vector<PeerId>{0, 2}));
  their_dial(2);
  EXPECT_EQ(kinds(theirs_), (std::vector{PacketKind::welcome, PacketKind::abort}));
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
  EXPECT_NE(messenger_.unreachable_reason(0).find("our number"), std::string::npos);
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
  EXPECT_EQ(messenger_.unreachable_reason(0), "connection refused");
  EXPECT_EQ(send(0).status.code(), Code::gone) << "and stays so";
  EXPECT_EQ(any.request->state, RequestState::posted) << "it may have left in good order";
  EXPECT_EQ(messenger_.dead_process(), std::nullopt);
}

// What the dialler says when from first to last nothing was there.
TEST_F(Linking, AHostThatIsSilentOrHasNoRouteToItIsGone) {
  const Posted sent = send(0);
  messenger_.on_unreachable(0, {Code::unreachable, ETIMEDOUT}, "no answer");
  EXPECT_EQ(sent.request->status.code(), Code::gone);
  EXPECT_EQ(messenger_.unreachable_reason(0), "no answer");
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
