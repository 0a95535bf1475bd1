// Operations that are made of others, and notes that travel beside tags.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/unit/protocol/world_of_messengers.h"

namespace parley::transport {
namespace {

using base::Code;
using namespace std::chrono_literals;

// Contexts 4, 8, ... have notes.
constexpr std::uint32_t plain_context = 1, noted_context = 4;

class Composite : public ::testing::Test {
 protected:
  Request& begin(std::chrono::nanoseconds timeout = 1h) {
    CompositeSpec spec{.context = noted_context, .agent = this};
    spec.on_interrupt = [](Request& request) noexcept {
      ++static_cast<Composite*>(request.agent)->interrupts;
    };
    spec.timeout = timeout;
    return *world.messengers[0]->begin_composite(spec);
  }

  int interrupts = 0;
  WorldOfMessengers world{2, {}, {.eager_limit_bytes = 64, .noted_contexts = 3, .first_group_context = 5}};
};

TEST_F(Composite, LastsUntilWhoBeganItEndsIt) {
  Messenger& messenger = *world.messengers[0];
  Request& request = begin();
  world.settle();
  EXPECT_EQ(request.state, RequestState::composed);
  EXPECT_EQ(messenger.live_requests(), 1U);
  EXPECT_FALSE(messenger.cancel(request, Code::cancelled)) << "its parts use its memory";
  messenger.end_composite(request, {});
  EXPECT_EQ(request.state, RequestState::done);
  EXPECT_TRUE(request.status.ok());
  EXPECT_EQ(interrupts, 0);
  messenger.release(request);
}

TEST_F(Composite, HearsOfItsDeadlineAndEndsWithIt) {
  Messenger& messenger = *world.messengers[0];
  Request& request = begin(1s);
  const auto now = std::chrono::steady_clock::now();
  messenger.tick(now);
  messenger.tick(now + 2s);
  EXPECT_EQ(interrupts, 1);
  EXPECT_EQ(request.state, RequestState::composed);
  messenger.tick(now + 3s);
  EXPECT_EQ(interrupts, 1) << "once is enough";
  messenger.end_composite(request, {});
  EXPECT_EQ(request.status.code(), Code::timed_out);
  messenger.release(request);
}

TEST_F(Composite, HearsOfAnAbortOfItsContext) {
  Request& request = begin();
  ASSERT_TRUE(world.messengers[1]->abort_context(noted_context, 1, "enough"));
  world.settle();
  EXPECT_EQ(interrupts, 1);
  world.messengers[0]->tick(std::chrono::steady_clock::now() + 1min);
  EXPECT_EQ(request.state, RequestState::composed) << "however long its parts take";
  world.messengers[0]->end_composite(request, {});
  EXPECT_EQ(request.status.code(), Code::aborted);
  world.messengers[0]->release(request);
}

TEST_F(Composite, HearsOfTheDeathOfAMember) {
  Request& request = begin();
  world.transports[1]->close();
  world.settle();
  EXPECT_EQ(interrupts, 1);
  world.messengers[0]->end_composite(request, Code::peer_died);
  EXPECT_EQ(request.status.code(), Code::peer_died);
  world.messengers[0]->release(request);
}

// A message with a note, before or after its receive is posted; small, or offered.
struct Delivery {
  std::size_t bytes;
  bool receive_first;
};
class Notes : public Composite, public ::testing::WithParamInterface<Delivery> {};

TEST_P(Notes, TravelBesideTheTagAndAreNotMatched) {
  const auto [bytes, receive_first] = GetParam();
  const std::vector<std::byte> data(bytes, std::byte{7});
  std::vector<std::byte> in(bytes);
  constexpr std::uint64_t note = 0xfff'1234'5678ULL;
  ReceiveSpec spec{.pattern = {noted_context, 0, 5}, .data = in.data(), .capacity_bytes = bytes};
  spec.timeout = 1h;
  const auto receive = [&] { return world.messengers[1]->receive(spec).request; };
  Request* received = receive_first ? receive() : nullptr;
  const Posted sent = world.send(0, 1, tag_with_note(5, note), data, false, noted_context);
  world.settle();
  if (received == nullptr) received = receive();
  world.settle();
  ASSERT_EQ(received->state, RequestState::done);
  EXPECT_TRUE(received->status.ok());
  EXPECT_EQ(received->envelope.tag, 5);
  EXPECT_EQ(received->envelope.note, note);
  EXPECT_EQ(in, data);
  world.messengers[1]->release(*received);
  if (sent.request != nullptr) world.messengers[0]->release(*sent.request);
}

INSTANTIATE_TEST_SUITE_P(All, Notes,
                         ::testing::Values(Delivery{8, true}, Delivery{8, false}, Delivery{1000, true},
                                           Delivery{1000, false}));

TEST_F(Composite, OtherContextsHaveNoNotes) {
  const std::vector<std::byte> data(8);
  std::vector<std::byte> in(8);
  const std::int64_t tag = tag_with_note(5, 9);
  ReceiveSpec spec{.pattern = {plain_context, 0, tag}, .data = in.data(), .capacity_bytes = 8};
  Request* received = world.messengers[1]->receive(spec).request;
  world.send(0, 1, tag, data, false, plain_context);
  world.settle();
  ASSERT_EQ(received->state, RequestState::done);
  EXPECT_EQ(received->envelope.tag, tag);
  world.messengers[1]->release(*received);
}

}  // namespace
}  // namespace parley::transport
