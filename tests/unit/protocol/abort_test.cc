// Aborts of a context: whom they end, what is told to others, what is dropped.

#include <string>

#include "tests/unit/protocol/message_bytes.h"
#include "tests/unit/protocol/world_of_messengers.h"

namespace parley::transport {
namespace {

using base::Code;

TEST(Abort, EndsTheContextEverywhereAndLeavesOthersAlone) {
  WorldOfMessengers world(3);
  auto in = bytes(eager, 0);
  std::vector<Request*> waiting;
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    waiting.push_back(&world.receive(rank, (rank + 1) % 3, 1, in));
  world.messengers[0]->abort_context(0, 0, "enough");
  world.settle();
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(waiting[rank]->status.code(), Code::aborted);
    ASSERT_NE(world.messengers[rank]->abort_record(0), nullptr);
    EXPECT_EQ(world.messengers[rank]->abort_record(0)->by, 0U);
    EXPECT_EQ(world.messengers[rank]->abort_record(0)->reason, "enough");
    EXPECT_EQ(world.messengers[rank]->abort_record(1), nullptr);
    EXPECT_EQ(world.send(rank, 0, 1, in).status.code(), Code::aborted);
    world.messengers[rank]->release(*waiting[rank]);
  }
}

TEST(Abort, ThatIsMoreUrgentIsToldAgain) {
  WorldOfMessengers world(3);
  world.messengers[0]->abort_context(0, 0, "it failed", AbortManner::gentle);
  world.settle();
  EXPECT_EQ(world.messengers[2]->abort_record(0)->manner, AbortManner::gentle);
  world.messengers[1]->abort_context(0, 1, "somebody asks for it", AbortManner::prompt);
  world.settle();
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(world.messengers[rank]->abort_record(0)->manner, AbortManner::prompt);
    EXPECT_EQ(world.messengers[rank]->abort_record(0)->reason, "it failed");
  }
}

// Its goodbye names that one, though it has not seen the death itself yet: it left for no reason of its own.
TEST(Abort, WhoseOperationWasAbortedBecauseOfADeathKnowsOfThatDeath) {
  WorldOfMessengers world(4);
  auto in = bytes(eager, 0);
  Request& aborted = world.receive(1, 0, 1, in);
  world.messengers[0]->abort_context(0, 3, "it died", AbortManner::bereaved);
  world.settle();
  EXPECT_EQ(aborted.status.code(), Code::aborted);
  EXPECT_EQ(world.messengers[1]->dead_process(), 3U);
  EXPECT_EQ(world.messengers[2]->dead_process(), std::nullopt);  // nothing of its own was aborted
  world.messengers[1]->acknowledge_failures(0);
  EXPECT_EQ(world.messengers[1]->dead_process(), std::nullopt);
  world.messengers[1]->release(aborted);
}

TEST(Abort, DropsWhatNobodyWillReceiveAndGivesItsCreditBack) {
  WorldOfMessengers world(2);
  const auto out = bytes(10'000);
  const std::int32_t full = world.messengers[0]->peer(1).credit_units;
  for (int i = 0; i < 10; ++i) world.send(0, 1, 1, out);
  world.settle();
  EXPECT_LT(world.messengers[0]->peer(1).credit_units, full);
  world.messengers[1]->abort_context(0, 1, "enough");
  world.settle();
  int unmatched = 0;
  world.messengers[1]->visit_unmatched(0, [&](const Unexpected&) { ++unmatched; });
  EXPECT_EQ(unmatched, 0);
  const Peer& sender = world.messengers[1]->peer(0);
  EXPECT_EQ(world.messengers[0]->peer(1).credit_units + sender.owed_units, full);
}

}  // namespace
}  // namespace parley::transport
