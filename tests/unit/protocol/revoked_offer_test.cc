// Offers that are taken back when their receiver has accepted them: their receives have their places again.
#include <chrono>

#include "tests/unit/protocol/message_bytes.h"
#include "tests/unit/protocol/world_of_messengers.h"

namespace parley::transport {
namespace {

using base::Code;

TEST(RevokedOffer, ThatCrossesAGrantGivesTheReceiveItsPlaceBack) {
  WorldOfMessengers world(2);
  const auto first = bytes(offered, 1);
  const auto second = bytes(offered, 2);
  auto in = bytes(offered, 0);
  const Posted revoked = world.send(0, 1, 1, first);
  Request& received = world.receive(1, 0, 1, in);
  while (received.state == RequestState::posted) world.progress(1);  // grants; rank 0 has not seen it
  ASSERT_EQ(received.state, RequestState::moving);
  ASSERT_TRUE(world.messengers[0]->cancel(*revoked.request, Code::cancelled));
  world.settle();
  EXPECT_EQ(received.state, RequestState::posted);
  const Posted kept = world.send(0, 1, 1, second);
  world.settle();
  EXPECT_EQ(received.state, RequestState::done);
  EXPECT_EQ(in, second);
  world.messengers[0]->release(*revoked.request);
  world.messengers[0]->release(*kept.request);
  world.messengers[1]->release(received);
}

// What was taken back has never been: the receive that had it gets what is sent next, though that comes
// before the answer to its grant.
TEST(RevokedOffer, LetsNothingOvertakeItsReceive) {
  for (const std::size_t size : {eager, offered}) {
    WorldOfMessengers world(2);
    const auto first = bytes(offered, 1), second = bytes(size, 2), third = bytes(size, 3);
    auto in_older = bytes(offered, 0), in_newer = bytes(size, 0);
    const Posted revoked = world.send(0, 1, 1, first);
    Request& older = world.receive(1, 0, 1, in_older);
    while (older.state == RequestState::posted) world.progress(1);  // grants; rank 0 has not seen it
    Request& newer = world.receive(1, 0, 1, in_newer);
    ASSERT_TRUE(world.messengers[0]->cancel(*revoked.request, Code::cancelled));
    const Posted next = world.send(0, 1, 1, second), last = world.send(0, 1, 1, third);
    world.settle();
    ASSERT_EQ(older.state, RequestState::done);
    ASSERT_EQ(newer.state, RequestState::done);
    EXPECT_EQ(older.message_bytes, size);
    in_older.resize(size);
    EXPECT_EQ(in_older, second);
    EXPECT_EQ(in_newer, third);
    for (const Posted& sent : {revoked, next, last})
      if (sent.request != nullptr) world.messengers[0]->release(*sent.request);
    for (Request* received : {&older, &newer}) world.messengers[1]->release(*received);
  }
}

// Several at once: their receives come back in the order in which they were posted.
TEST(RevokedOffer, AmongSeveralGivesPlacesBackInOrder) {
  WorldOfMessengers world(2);
  const auto large = bytes(offered, 1), small = bytes(eager, 2), last = bytes(eager, 3);
  auto in_older = bytes(offered, 0), in_newer = bytes(offered, 0);
  const Posted one = world.send(0, 1, 1, large), other = world.send(0, 1, 1, large);
  const Posted next = world.send(0, 1, 1, small);
  Request& older = world.receive(1, 0, 1, in_older);
  Request& newer = world.receive(1, 0, 1, in_newer);
  while (older.state == RequestState::posted || newer.state == RequestState::posted) world.progress(1);
  const auto now = std::chrono::steady_clock::now();
  world.messengers[0]->tick(now);
  world.messengers[0]->tick(now + std::chrono::hours(2));  // both deadlines have passed
  for (const Posted& revoked : {one, other}) ASSERT_EQ(revoked.request->status, Code::timed_out);
  world.settle();
  EXPECT_EQ(older.state, RequestState::done);
  EXPECT_EQ(older.message_bytes, small.size());
  EXPECT_EQ(newer.state, RequestState::posted);
  const Posted then = world.send(0, 1, 1, last);
  world.settle();
  EXPECT_EQ(newer.state, RequestState::done);
  in_older.resize(eager);
  in_newer.resize(eager);
  EXPECT_EQ(in_older, small);
  EXPECT_EQ(in_newer, last);
  for (const Posted& sent : {one, other, next, then})
    if (sent.request != nullptr) world.messengers[0]->release(*sent.request);
  for (Request* received : {&older, &newer}) world.messengers[1]->release(*received);
}

}  // namespace
}  // namespace parley::transport
