#include <algorithm>
#include <string>

#include "tests/unit/protocol/message_bytes.h"
#include "tests/unit/protocol/world_of_messengers.h"

namespace parley::transport {
namespace {

using base::Code;

class EachSize : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Messenger, EachSize, testing::Values(0, eager, 20 * 1024, offered, 3 * 1024 * 1024));

TEST_P(EachSize, ArrivesBeforeAndAfterItsReceive) {
  WorldOfMessengers world(2);
  const auto out = bytes(GetParam());
  for (const bool receive_first : {true, false}) {
    auto in = bytes(GetParam(), 0);
    Request* received = receive_first ? &world.receive(1, 0, 5, in) : nullptr;
    const Posted sent = world.send(0, 1, 5, out);
    world.settle();
    if (received == nullptr) received = &world.receive(1, 0, 5, in);
    world.settle();
    ASSERT_EQ(received->state, RequestState::done);
    EXPECT_TRUE(received->status.ok());
    EXPECT_EQ(received->message_bytes, out.size());
    EXPECT_EQ(in, out);
    world.messengers[1]->release(*received);
    if (sent.request != nullptr) {
      EXPECT_EQ(sent.request->state, RequestState::done);
      world.messengers[0]->release(*sent.request);
    }
  }
  EXPECT_EQ(world.messengers[0]->live_requests() + world.messengers[1]->live_requests(), 0U);
}

TEST_P(EachSize, SynchronousSendEndsWithItsMatchOnly) {
  WorldOfMessengers world(2);
  const auto out = bytes(GetParam());
  const Posted sent = world.send(0, 1, 5, out, true);
  world.settle();
  ASSERT_NE(sent.request, nullptr);
  EXPECT_EQ(sent.request->state, RequestState::offered);
  auto in = bytes(GetParam(), 0);
  Request& received = world.receive(1, 0, 5, in);
  world.settle();
  EXPECT_EQ(sent.request->state, RequestState::done);
  EXPECT_EQ(received.state, RequestState::done);
  EXPECT_EQ(in, out);
  world.messengers[0]->release(*sent.request);
  world.messengers[1]->release(received);
}

TEST_P(EachSize, ToOneself) {
  WorldOfMessengers world(1);
  const auto out = bytes(GetParam());
  auto in = bytes(GetParam(), 0);
  const Posted sent = world.send(0, 0, 1, out);
  Request& received = world.receive(0, 0, 1, in);
  world.settle();
  EXPECT_EQ(received.state, RequestState::done);
  EXPECT_EQ(in, out);
  world.messengers[0]->release(received);
  if (sent.request != nullptr) world.messengers[0]->release(*sent.request);
}

TEST_P(EachSize, TooLongForItsReceiveEndsThatReceiveAlone) {
  if (GetParam() == 0) return;  // nothing is shorter
  WorldOfMessengers world(2);
  const auto out = bytes(GetParam());
  for (const bool receive_first : {true, false}) {
    auto in = bytes(GetParam() - 1, 0);
    const auto guard = in;
    Request* received = receive_first ? &world.receive(1, 0, 5, in) : nullptr;
    const Posted sent = world.send(0, 1, 5, out);
    world.settle();
    if (received == nullptr) received = &world.receive(1, 0, 5, in);
    world.settle();
    ASSERT_EQ(received->state, RequestState::done);
    EXPECT_EQ(received->status.code(), Code::truncated);
    EXPECT_EQ(received->message_bytes, out.size());
    EXPECT_EQ(in, guard) << "nothing of it is written";
    world.messengers[1]->release(*received);
    if (sent.request != nullptr) {
      EXPECT_TRUE(sent.request->status.ok());
      world.messengers[0]->release(*sent.request);
    }
  }
}

TEST(Messenger, WithoutCreditMessagesAreOfferedInOrder) {
  WorldOfMessengers world(2);
  const std::int32_t count = eager_window_units + 500;
  const auto out = bytes(1);
  std::vector<Request*> sends;
  for (std::int32_t i = 0; i < count; ++i) {
    const Posted sent = world.send(0, 1, i, out);
    if (sent.request != nullptr) sends.push_back(sent.request);
  }
  world.settle();
  EXPECT_GE(sends.size(), 500U);
  const auto offers = std::count_if(sends.begin(), sends.end(),
                                    [](const Request* r) { return r->state == RequestState::offered; });
  EXPECT_EQ(offers, 500);
  for (std::int32_t i = 0; i < count; ++i) {
    auto in = bytes(1, 0);
    Request& received = world.receive(1, 0, any_tag, in);
    while (received.state != RequestState::done) {
      world.progress(0);
      world.progress(1);
    }
    EXPECT_EQ(received.envelope.tag, i);
    world.messengers[1]->release(received);
  }
  world.settle();
  for (Request* sent : sends) {
    EXPECT_EQ(sent->state, RequestState::done);
    world.messengers[0]->release(*sent);
  }
}

TEST(Messenger, ARevokedOfferIsGoneAndTheNextOneGetsTheReceive) {
  WorldOfMessengers world(2);
  const auto first = bytes(offered, 1);
  const auto second = bytes(offered, 2);
  const Posted revoked = world.send(0, 1, 1, first);
  const Posted kept = world.send(0, 1, 1, second);
  world.settle();
  EXPECT_TRUE(world.messengers[0]->cancel(*revoked.request, Code::cancelled));
  world.settle();
  auto in = bytes(offered, 0);
  Request& received = world.receive(1, 0, 1, in);
  world.settle();
  EXPECT_EQ(in, second);
  world.messengers[0]->release(*revoked.request);
  world.messengers[0]->release(*kept.request);
  world.messengers[1]->release(received);
}

TEST(Messenger, ADeadlockTakesBothMessagesBackBeforeAnythingElseIsSent) {
  WorldOfMessengers world(2);
  const auto out = bytes(eager);
  Request* sent[2];
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    sent[rank] = world.send(rank, 1 - rank, 1, out, true).request;
  for (std::uint32_t rank = 0; rank < 2; ++rank) world.messengers[rank]->tell_stall(*sent[rank], false);
  world.settle();
  world.messengers[0]->declare_deadlock(*sent[0]);
  while (sent[1]->state != RequestState::done) world.progress(1);
  world.send(1, 0, 2, out);  // right behind
  world.settle();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(sent[rank]->status.code(), Code::deadlocked);
    EXPECT_EQ(world.messengers[rank]->peek({0, 1 - rank, 1}), nullptr);
    world.messengers[rank]->release(*sent[rank]);
  }
  EXPECT_NE(world.messengers[0]->peek({0, 1, 2}), nullptr);
}

TEST(Messenger, AFailureIsToldOnceAndSettledByItsAcknowledgement) {
  WorldOfMessengers world(3);
  auto in = bytes(eager, 0);
  Request& first = world.receive(2, any_source, 1, in);
  world.messengers[1]->leave(0U);  // rank 1 leaves because of rank 0
  world.settle();
  EXPECT_EQ(first.status.code(), Code::peer_died);
  ASSERT_TRUE(world.messengers[2]->casualty_of(0));
  EXPECT_EQ(world.messengers[2]->casualty_of(0)->culprit, 0U);
  world.messengers[2]->release(first);
  world.messengers[2]->acknowledge_failures(0);
  Request& again = world.receive(2, any_source, 1, in);
  world.transports[1]->close();  // the link follows the goodbye
  world.settle();
  EXPECT_EQ(again.state, RequestState::posted);
  EXPECT_FALSE(world.messengers[2]->casualty_of(0));
  world.messengers[2]->cancel(again, Code::cancelled);
  world.messengers[2]->release(again);
}

// A send that meets a dead link waits for its reason, which may name another rank than the link's.
TEST(Messenger, ASendIntoADeadLinkEndsWithTheLinksReason) {
  WorldOfMessengers world(2);
  const auto out = bytes(eager);
  world.messengers[0]->leave(0U);
  while (world.progress(0) != 0) {
  }
  world.transports[0]->close();
  const Posted sent = world.send(1, 0, 1, out);
  ASSERT_NE(sent.request, nullptr) << "not the link's own status: " << sent.status.describe();
  world.settle();
  EXPECT_EQ(sent.request->status.code(), Code::peer_died);
  world.messengers[1]->release(*sent.request);
}

TEST(Messenger, MoreSendsThanEnvelopesAreRefusedAndTheRestArrives) {
  WorldOfMessengers world(2);
  const std::vector<std::byte> empty;
  std::vector<Request*> sent;
  for (std::size_t i = 0; i < max_envelopes; ++i) sent.push_back(world.send(0, 1, 1, empty, true).request);
  EXPECT_EQ(world.send(0, 1, 1, empty, true).status.code(), Code::exhausted);
  world.settle();
  EXPECT_EQ(world.messengers[1]->peer(0).offers.size(), max_envelopes);
  for (std::size_t i = 0; i < max_envelopes; i += 2)  // the newer ones first: each is found at once
    world.messengers[0]->cancel(*sent[max_envelopes - 1 - i], Code::cancelled);
  world.settle();
  EXPECT_EQ(world.messengers[1]->peer(0).offers.size(), max_envelopes / 2);
  for (std::size_t i = 0; i < max_envelopes / 2; ++i) {
    std::vector<std::byte> in;
    world.messengers[1]->release(world.receive(1, 0, 1, in));
  }
  world.settle();
  EXPECT_EQ(world.messengers[0]->live_requests(), 0U);
  for (Request* request : sent) world.messengers[0]->release(*request);
}

TEST(Messenger, AGoodbyeNamesTheRootCause) {
  WorldOfMessengers world(3);
  auto in = bytes(eager, 0);
  Request& received = world.receive(2, 1, 1, in);
  world.messengers[1]->leave(0U);  // rank 1 leaves because of rank 0
  world.settle();
  EXPECT_EQ(received.status.code(), Code::peer_died);
  EXPECT_EQ(world.messengers[2]->peer(1).culprit, 0U);
  world.messengers[2]->release(received);
}

TEST(Messenger, AnOrderlyGoodbyeIsNoDeathAndDeliversWhatCameBefore) {
  WorldOfMessengers world(2);
  const auto out = bytes(eager);
  world.send(0, 1, 1, out);
  world.messengers[0]->leave(std::nullopt);
  world.settle();
  auto in = bytes(eager, 0);
  Request& received = world.receive(1, 0, 1, in);
  EXPECT_EQ(received.state, RequestState::done);
  EXPECT_EQ(in, out);
  Request& missed = world.receive(1, 0, 1, in);
  EXPECT_EQ(missed.status.code(), Code::peer_left);
  EXPECT_FALSE(world.messengers[1]->casualty_of(0));
  world.messengers[1]->release(received);
  world.messengers[1]->release(missed);
}

TEST(Messenger, ADeadlineTakesAnUnmatchedOperationBack) {
  WorldOfMessengers world(2);
  auto in = bytes(eager, 0);
  ReceiveSpec spec;
  spec.pattern = {0, 0, 1};
  spec.data = in.data();
  spec.capacity_bytes = in.size();
  spec.timeout = std::chrono::seconds(1);
  Request& received = *world.messengers[1]->receive(spec).request;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(world.messengers[1]->tick(start), start + std::chrono::seconds(1));
  EXPECT_EQ(received.state, RequestState::posted);
  world.messengers[1]->tick(start + std::chrono::seconds(1));
  EXPECT_EQ(received.status.code(), Code::timed_out);
  world.messengers[1]->release(received);
  const auto out = bytes(eager);
  world.send(0, 1, 1, out);
  world.settle();
  Request& again = world.receive(1, 0, 1, in);
  EXPECT_EQ(in, out) << "the link is as good as before";
  world.messengers[1]->release(again);
}

TEST(Messenger, AHeldMessageGoesBackToItsPlace) {
  WorldOfMessengers world(2);
  const auto first = bytes(eager, 1);
  const auto second = bytes(eager, 2);
  world.send(0, 1, 1, first);
  world.send(0, 1, 1, second);
  world.settle();
  Messenger& messenger = *world.messengers[1];
  Unexpected* held = messenger.peek({0, 0, 1});
  ASSERT_NE(held, nullptr);
  messenger.hold(*held);
  EXPECT_NE(messenger.peek({0, 0, 1}), held);
  messenger.put_back(*held);
  auto in = bytes(eager, 0);
  Request& received = world.receive(1, 0, 1, in);
  EXPECT_EQ(in, first);
  messenger.release(received);
}

TEST(Messenger, AHeldOfferThatIsTakenBackDoesNotComeBack) {
  for (const bool receive_it : {true, false}) {
    WorldOfMessengers world(2);
    const auto out = bytes(eager);
    const Posted sent = world.send(0, 1, 1, out, true);
    world.settle();
    Messenger& messenger = *world.messengers[1];
    Unexpected* held = messenger.peek({0, 0, 1});
    ASSERT_NE(held, nullptr);
    messenger.hold(*held);
    ASSERT_TRUE(world.messengers[0]->cancel(*sent.request, Code::cancelled));
    world.settle();
    if (receive_it) {
      auto in = bytes(eager, 0);
      ReceiveSpec spec;
      spec.data = in.data();
      spec.capacity_bytes = in.size();
      const Posted received = messenger.receive_held(*held, spec);
      EXPECT_EQ(received.request->status.code(), Code::cancelled);
      messenger.release(*received.request);
    } else {
      messenger.put_back(*held);
      EXPECT_EQ(messenger.peek({0, 0, 1}), nullptr);
    }
    world.messengers[0]->release(*sent.request);
  }
}

TEST(Messenger, NothingFollowsAGoodbye) {
  WorldOfMessengers world(2);
  world.messengers[0]->leave(std::nullopt);
  EXPECT_EQ(world.send(0, 1, 1, bytes(eager)).status.code(), Code::closed);
  EXPECT_EQ(world.send(0, 1, 1, bytes(offered)).status.code(), Code::closed);
}

}  // namespace
}  // namespace parley::transport
