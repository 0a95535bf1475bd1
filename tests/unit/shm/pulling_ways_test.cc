// Large messages that the receiver pulls, whether by cross-memory copies or out of the sender's arena: what
// may come between, and every byte of random traffic.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/shm/pulling_world.h"

namespace parley::transport::shm::testing {
namespace {

using base::Code;

struct Ways {
  const char* name;
  std::vector<bool> across;  // of three processes: whether they read others, and are read
  bool arenas = false;
};
void PrintTo(const Ways& ways, std::ostream* out) {
  *out << ways.name;
}
std::string name_of(const ::testing::TestParamInfo<Ways>& info) {
  return info.param.name;
}

class PullingEitherWay : public WatchedReads, public ::testing::WithParamInterface<Ways> {
 protected:
  // In arenas number 0 has shown the others the segment in which it sends. `out`: that memory.
  static std::unique_ptr<PullingWorld> make_world(std::size_t size, SharedBytes* out = nullptr) {
    std::vector<std::shared_ptr<const CrossMemory>> across;
    for (std::size_t i = 0; i < size; ++i)
      across.push_back(GetParam().across[i] ? CrossMemory::create(watched_read) : nullptr);
    auto world = std::make_unique<PullingWorld>(std::move(across), 8 << 10, GetParam().arenas);
    if (out != nullptr) *out = SharedBytes(world->arenas[0].get(), large);
    for (std::uint32_t to = 1; to < size && out != nullptr && GetParam().arenas; ++to)
      world->show(to, out->all());
    reads = {};
    return world;
  }
  // Until the receive has some of its bytes and not all.
  static void begin_pull(PullingWorld& world, const Request& receive) {
    world.run_until([&] { return receive.state == RequestState::moving; });
    world.step(1);
    ASSERT_EQ(receive.state, RequestState::moving);
  }
};

class PullingMeanwhile : public PullingEitherWay {
 protected:
  static void change(const SharedBytes& out) { std::fill(out.all().begin(), out.all().end(), changed); }

  SharedBytes out_;
  Bytes in_ = Bytes(large);
};

TEST_P(PullingMeanwhile, OthersAreServedBetweenThePieces) {
  const auto world = make_world(3, &out_);
  const Bytes word(8, std::byte{5});
  Bytes heard(8);
  world->send(0, 1, 7, out_.all());
  Request& pulled = world->receive(1, 0, 7, in_);
  begin_pull(*world, pulled);
  Request& small = world->receive(1, 2, 8, heard);
  EXPECT_EQ(world->send(2, 1, 8, word), nullptr);
  world->step(1);
  EXPECT_EQ(small.state, RequestState::done);
  EXPECT_EQ(pulled.state, RequestState::moving);
  world->finish(pulled);
  EXPECT_TRUE(is_same(in_, out_.all()));
}

TEST_P(PullingMeanwhile, ASendThatIsTakenBackIsNotReceived) {
  const auto world = make_world(2, &out_);
  Request* send = world->send(0, 1, 7, out_.all());
  Request& receive = world->receive(1, 0, 7, in_);
  begin_pull(*world, receive);
  ASSERT_TRUE(world->messengers[0]->cancel(*send, Code::cancelled));
  EXPECT_EQ(send->status.code(), Code::cancelled);
  change(out_);
  world->settle();
  EXPECT_EQ(receive.state, RequestState::posted) << "it is back in its place";
  fill_content(out_.all(), 2);
  world->send(0, 1, 7, out_.all());
  world->finish(receive);
  EXPECT_TRUE(receive.status.ok());
  EXPECT_TRUE(is_same(in_, content(large, 2)));
}

TEST_P(PullingMeanwhile, AnAbortedReceiveIsNotWrittenAnyMore) {
  const auto world = make_world(2, &out_);
  Request* send = world->send(0, 1, 7, out_.all());
  Request& receive = world->receive(1, 0, 7, in_);
  begin_pull(*world, receive);
  ASSERT_TRUE(world->messengers[1]->abort_context(0, 1, "enough"));
  EXPECT_EQ(receive.status.code(), Code::aborted);
  const int before = reads.count;
  std::fill(in_.begin(), in_.end(), changed);
  world->finish(*send);
  world->settle();
  EXPECT_EQ(send->status.code(), Code::aborted);
  EXPECT_EQ(reads.count, before);
  EXPECT_EQ(in_, Bytes(large, changed));
}

TEST_P(PullingMeanwhile, AReceiveThatExpiresEndsTheLink) {
  const auto world = make_world(2, &out_);
  Request* send = world->send(0, 1, 7, out_.all());
  Request& receive = world->receive(1, 0, 7, in_, std::chrono::seconds(1));
  begin_pull(*world, receive);
  world->tick_late(1);
  world->finish(receive);
  EXPECT_EQ(receive.status.code(), Code::timed_out);
  const int before = reads.count;
  std::fill(in_.begin(), in_.end(), changed);
  world->finish(*send);
  EXPECT_EQ(send->status.code(), Code::given_up);
  EXPECT_EQ(reads.count, before);
  EXPECT_EQ(in_, Bytes(large, changed));
}

TEST_P(PullingMeanwhile, ALinkThatIsClosedBySenderHandsOutNothing) {
  const auto world = make_world(2, &out_);
  Request* send = world->send(0, 1, 7, out_.all());
  Request& receive = world->receive(1, 0, 7, in_);
  begin_pull(*world, receive);
  world->transports[0]->close();
  while (world->step(0) != 0) {
  }
  ASSERT_EQ(send->state, RequestState::done);
  EXPECT_TRUE(send->status.failed());
  change(out_);  // the caller's again
  world->finish(receive);
  EXPECT_TRUE(receive.status.failed()) << "what was read may be another thing";
}

INSTANTIATE_TEST_SUITE_P(Ways, PullingMeanwhile,
                         ::testing::Values(Ways{"Across", {true, true, true}},
                                           Ways{"OutOfTheArena", {false, false, false}, true}),
                         name_of);

// Both ways, all sizes, in the arenas and elsewhere, some sends taken back.
using PullingTraffic = PullingEitherWay;

TEST_P(PullingTraffic, BringsEveryByte) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto world = make_world(3);
  struct Message {
    std::uint32_t from, to;
    SharedBytes out;
    Bytes in;
    Request* send = nullptr;
    Request* receive = nullptr;
    bool is_withdrawn = false;
  };
  std::vector<std::unique_ptr<Message>> messages;
  const auto pick = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  for (int i = 0; i < 150; ++i) {
    const std::uint32_t from = pick(3), to = (from + 1 + pick(2)) % 3;
    const std::size_t bytes = pick(2) == 0 ? pick(20000) : pick(1 << 20);
    // In the arena of the sender, or in that of another.
    Arena* const arena = world->arenas[pick(4) == 0 ? to : from].get();
    auto message = std::make_unique<Message>(Message{from, to, SharedBytes(arena, bytes, i), Bytes(bytes)});
    const bool receive_first = pick(2) == 0;
    if (receive_first) message->receive = &world->receive(to, from, i, message->in);
    message->send = world->send(from, to, i, message->out.all());
    for (std::uint32_t steps = pick(6); steps > 0; --steps) world->step(pick(3));
    if (!receive_first) message->receive = &world->receive(to, from, i, message->in);
    messages.push_back(std::move(message));
    Message& victim = *messages[pick(static_cast<std::uint32_t>(messages.size()))];
    if (pick(4) == 0 && victim.send != nullptr && victim.send->state != RequestState::done &&
        world->messengers[victim.from]->cancel(*victim.send, Code::cancelled)) {
      victim.is_withdrawn = true;
      std::fill(victim.out.all().begin(), victim.out.all().end(), changed);
    }
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Message& message = *messages[i];
    if (message.is_withdrawn) {
      EXPECT_NE(message.receive->state, RequestState::done) << i;
      continue;
    }
    world->finish(*message.receive);
    if (message.send != nullptr) world->finish(*message.send);
    EXPECT_TRUE(message.receive->status.ok()) << i;
    ASSERT_TRUE(is_same(message.in, message.out.all())) << "message " << i << " of " << message.in.size();
  }
  const auto& across = GetParam().across;
  EXPECT_EQ(reads.count > 0, std::count(across.begin(), across.end(), true) > 1);
}

INSTANTIATE_TEST_SUITE_P(Ways, PullingTraffic,
                         ::testing::Values(Ways{"ByTheLink", {false, true, false}},
                                           Ways{"SomeAcross", {true, true, false}},
                                           Ways{"Across", {true, true, true}},
                                           Ways{"OutOfTheArena", {false, false, false}, true},
                                           Ways{"EitherWay", {true, true, true}, true}),
                         name_of);

}  // namespace
}  // namespace parley::transport::shm::testing
