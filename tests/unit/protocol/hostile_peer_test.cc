// A peer that has proved to know the secret and then breaks the protocol: its link ends, nothing else does.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "tests/unit/protocol/forged_link.h"
#include "transport/protocol/messenger.h"

namespace parley::transport {
namespace {

using base::Code;
using namespace std::chrono_literals;

class HostilePeer : public testing::Test {
 protected:
  HostilePeer() { messenger_.on_link(1, link_); }
  ~HostilePeer() override { messenger_.on_closed(link_, Code::closed); }

  void say(PacketKind kind, std::uint32_t id = 0, std::size_t message_bytes = 0) {
    PacketHeader header{.kind = kind};
    header.id = id;
    header.message_bytes = message_bytes;
    messenger_.on_packet(link_, header, {});
  }
  // Of a message that the receive takes.
  void begin_transfer() {
    PacketHeader header{.kind = PacketKind::eager};
    header.message_bytes = header.payload_bytes = 10'000;
    messenger_.on_header(link_, header);
  }
  Request& receive() {
    ReceiveSpec spec;
    spec.pattern = {0, 1, 0};
    spec.data = buffer_.data();
    spec.capacity_bytes = buffer_.size();
    spec.timeout = std::chrono::hours(1);
    return *messenger_.receive(spec).request;
  }

  ForgedLink link_;
  Messenger messenger_{MessengerOptions{.self = 0, .peer_count = 2}};
  std::vector<std::byte> buffer_ = std::vector<std::byte>(200'000);
};

TEST_F(HostilePeer, MayNotRevokeBeforeOurGrantHasLeft) {
  link_.refuses = true;
  Request& request = receive();
  say(PacketKind::offer, 7, 100'000);
  ASSERT_EQ(request.state, RequestState::moving);
  say(PacketKind::revoked, request.id);
  EXPECT_TRUE(link_.closed);
  EXPECT_EQ(request.state, RequestState::moving);
  messenger_.on_closed(link_, Code::closed);
  EXPECT_EQ(request.status.code(), Code::protocol_violation);
  messenger_.release(request);
}

// Fills are messages with credit, whatever they fill.
TEST_F(HostilePeer, MayFillWhatItHasOfferedAndNothingElse) {
  const std::vector<std::byte> data(4000);
  const auto fill = [&](std::uint32_t id, std::size_t bytes) {
    PacketHeader header{.kind = PacketKind::fill};
    header.id = id;
    header.message_bytes = header.payload_bytes = static_cast<std::uint32_t>(bytes);
    messenger_.on_packet(link_, header, std::span(data).first(bytes));
  };
  say(PacketKind::offer, 7, 4000);
  fill(8, 4000);  // its receive may have ended
  EXPECT_FALSE(link_.closed);
  fill(7, 4000);
  Request& request = receive();
  EXPECT_EQ(request.state, RequestState::done);
  EXPECT_EQ(request.message_bytes, 4000U);
  EXPECT_EQ(messenger_.peer(1).owed_units, 2 * credit_units(4000));
  messenger_.release(request);
  say(PacketKind::offer, 9, 4000);
  fill(9, 3999);
  EXPECT_TRUE(link_.closed);
}

TEST_F(HostilePeer, MayNotFillWithoutCredit) {
  const std::vector<std::byte> data(64 << 10);
  for (std::uint32_t id = 1; id < 100 && !link_.closed; ++id) {
    say(PacketKind::offer, id, data.size());
    PacketHeader header{.kind = PacketKind::fill};
    header.id = id;
    header.message_bytes = header.payload_bytes = static_cast<std::uint32_t>(data.size());
    messenger_.on_packet(link_, header, data);
    EXPECT_EQ(link_.closed, static_cast<std::int32_t>(id) * credit_units(data.size()) > eager_window_units);
  }
  EXPECT_TRUE(link_.closed);
}

TEST_F(HostilePeer, WhoStopsInTheMiddleOfATransferLosesItsLinkAndIsTold) {
  Request& request = receive();
  const auto begin = std::chrono::steady_clock::now();
  messenger_.tick(begin);
  begin_transfer();
  ASSERT_EQ(request.state, RequestState::moving);
  messenger_.tick(begin + std::chrono::hours(2));
  EXPECT_TRUE(link_.closed);
  ASSERT_FALSE(link_.sent.empty());
  EXPECT_EQ(link_.sent.back().kind, PacketKind::goodbye);
  EXPECT_EQ(link_.sent.back().tag, static_cast<std::int64_t>(Farewell::giving_up));
  messenger_.on_closed(link_, Code::closed);
  EXPECT_EQ(request.status.code(), Code::timed_out);
  EXPECT_EQ(messenger_.peer(1).reason.code(), Code::given_up);
  EXPECT_EQ(messenger_.peer(1).culprit, 0U);
  EXPECT_EQ(messenger_.dead_process(), std::nullopt) << "nobody has died";
  messenger_.release(request);
}

// Who calls abort() is promised that all return soon; an operation that failed leaves others their link.
struct Grace {
  AbortManner manner;
  std::chrono::milliseconds still_open, over;
};
class HostilePeerOfAnAbort : public HostilePeer, public testing::WithParamInterface<Grace> {};
INSTANTIATE_TEST_SUITE_P(Messenger, HostilePeerOfAnAbort,
                         testing::Values(Grace{AbortManner::prompt, 10ms, 1000ms},
                                         Grace{AbortManner::gentle, 1000ms, 10s}),
                         [](const auto& grace) {
                           return grace.param.manner == AbortManner::prompt ? "Prompt" : "Gentle";
                         });

TEST_P(HostilePeerOfAnAbort, WhoStopsInTheMiddleOfATransferLosesItsLinkInTheEnd) {
  Request& request = receive();
  begin_transfer();
  ASSERT_EQ(request.state, RequestState::moving);
  const auto begin = std::chrono::steady_clock::now();
  PacketHeader told{.kind = PacketKind::abort, .tag = static_cast<std::int64_t>(GetParam().manner)};
  told.id = 2;
  messenger_.on_packet(link_, told, {});
  messenger_.tick(begin + GetParam().still_open);
  EXPECT_FALSE(link_.closed);
  messenger_.tick(begin + GetParam().over);
  EXPECT_TRUE(link_.closed);
  messenger_.on_closed(link_, Code::closed);
  EXPECT_EQ(request.status.code(), Code::aborted);
  messenger_.release(request);
}

TEST_F(HostilePeer, HasNoMoreTimeThanTheMostUrgentAbortLeaves) {
  Request& request = receive();
  begin_transfer();
  const auto begin = std::chrono::steady_clock::now();
  messenger_.abort_context(0, 0, "it failed", AbortManner::gentle);
  messenger_.tick(begin + 1s);
  EXPECT_FALSE(link_.closed);
  messenger_.abort_context(0, 0, "somebody asks for it");
  messenger_.tick(begin + 1s);
  EXPECT_TRUE(link_.closed);
  messenger_.on_closed(link_, Code::closed);
  messenger_.release(request);
}

TEST_F(HostilePeer, ThatGivesUpItsLinkIsNotDead) {
  Request& request = receive();
  PacketHeader header{.kind = PacketKind::goodbye};
  header.tag = static_cast<std::int64_t>(Farewell::giving_up);
  messenger_.on_packet(link_, header, {});
  EXPECT_EQ(request.status.code(), Code::given_up);
  EXPECT_EQ(messenger_.peer(1).culprit, 1U);
  EXPECT_EQ(messenger_.dead_process(), std::nullopt);
  messenger_.release(request);
}

TEST_F(HostilePeer, MayNotHandOutCredit) {
  PacketHeader header{.kind = PacketKind::credit};
  header.credits = 1;
  messenger_.on_packet(link_, header, {});
  EXPECT_TRUE(link_.closed);
}

TEST_F(HostilePeer, MayNotSendWithoutCredit) {
  std::vector<std::byte> payload(1000);
  PacketHeader header{.kind = PacketKind::eager};
  header.payload_bytes = 1000;
  header.message_bytes = 1000;
  int kept = 0;
  for (; kept < 10'000 && !link_.closed; ++kept) messenger_.on_packet(link_, header, payload);
  EXPECT_TRUE(link_.closed);
  EXPECT_EQ(kept, eager_window_units + 1);
}

TEST_F(HostilePeer, MayNotOfferWithoutEnd) {
  for (std::uint32_t id = 1; id <= max_envelopes; ++id) say(PacketKind::offer, id, 1);
  EXPECT_FALSE(link_.closed);
  say(PacketKind::offer, max_envelopes + 1, 1);
  EXPECT_TRUE(link_.closed);
}

TEST_F(HostilePeer, MayNotOfferTheSameTwice) {
  say(PacketKind::offer, 7, 1);
  say(PacketKind::offer, 7, 1);
  EXPECT_TRUE(link_.closed);
}

TEST_F(HostilePeer, NamesNothingByNumbersThatWereNotGiven) {
  Request& request = receive();
  for (const std::uint32_t id : {0U, 1U, 0xFFFFFFFFU}) {
    say(PacketKind::grant, id, 100);
    say(PacketKind::revoke, id);
    say(PacketKind::revoked, id);
    say(PacketKind::data, id);
    say(PacketKind::pushed, id);
  }
  EXPECT_EQ(request.state, RequestState::posted);
  messenger_.cancel(request, Code::cancelled);
  messenger_.release(request);
}

TEST_F(HostilePeer, PushesToNothingThatWasNotItsPlace) {
  Request& request = receive();
  say(PacketKind::offer, 7, 10'000);
  ASSERT_EQ(request.state, RequestState::moving);
  say(PacketKind::pushed, request.id);
  EXPECT_TRUE(link_.closed);
  messenger_.on_closed(link_, Code::closed);
  EXPECT_TRUE(request.status.failed());
  messenger_.release(request);
}

TEST_F(HostilePeer, IsToldWhyItsLinkEnds) {
  say(PacketKind::offer, 7, 1);
  say(PacketKind::offer, 7, 1);
  ASSERT_FALSE(link_.sent.empty());
  EXPECT_EQ(link_.sent.back().kind, PacketKind::goodbye);
  EXPECT_EQ(link_.sent.back().tag, static_cast<std::int64_t>(Farewell::complaining));
}

TEST_F(HostilePeer, ThatComplainsIsNotDead) {
  Request& request = receive();
  PacketHeader header{.kind = PacketKind::goodbye};
  header.tag = static_cast<std::int64_t>(Farewell::complaining);
  messenger_.on_packet(link_, header, {});
  EXPECT_EQ(request.status.code(), Code::protocol_violation);
  EXPECT_EQ(messenger_.peer(1).culprit, 0U);
  EXPECT_EQ(messenger_.dead_process(), std::nullopt);
  messenger_.release(request);
}

TEST_F(HostilePeer, MayNotAbortWithoutEnd) {
  PacketHeader header{.kind = PacketKind::abort};
  header.id = 2;
  for (header.context = 1; header.context <= max_told_aborts; ++header.context)
    messenger_.on_packet(link_, header, {});
  EXPECT_FALSE(link_.closed);
  messenger_.on_packet(link_, header, {});
  EXPECT_TRUE(link_.closed);
}

TEST_F(HostilePeer, MayNotGrantWithoutEndWhatWasNotOffered) {
  link_.refuses = true;
  for (std::uint32_t i = 0; i < max_envelopes; ++i) say(PacketKind::grant, 0, 100);
  EXPECT_FALSE(link_.closed);
  say(PacketKind::grant, 0, 100);
  EXPECT_TRUE(link_.closed);
}

}  // namespace
}  // namespace parley::transport
