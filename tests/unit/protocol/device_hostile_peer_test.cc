// Device memory and a peer that breaks the rules of offers, places and pushes: no memory is touched that was
// not shown, nothing is left behind, and who is plainly lied to ends the link.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "tests/unit/protocol/forged_link.h"
#include "tests/unit/protocol/pretend_device.h"
#include "transport/protocol/messenger.h"

namespace parley::transport {
namespace {

using base::Code;
using State = PretendDeviceBoard::State;

class HostilePeerOfADevice : public testing::Test {
 protected:
  static constexpr std::uint32_t bytes = 50'000;

  HostilePeerOfADevice() {
    device_.piece_bytes = 4000;
    messenger_.on_link(1, link_);
    messenger_.peer(1).device_mover = &mover_;
  }
  ~HostilePeerOfADevice() override {
    if (request_ != nullptr) messenger_.release(*request_);
    EXPECT_EQ(device_.live, 0);
    EXPECT_EQ(device_.places_out, 0U);
  }
  void close(Code reason = Code::closed) { messenger_.on_closed(link_, reason); }

  // A send that is offered; its number, as the peer knows it.
  std::uint32_t offer() {
    SendSpec spec;
    spec.destination = 1;
    spec.bytes = bytes;
    spec.synchronous = true;
    spec.device = &memory_;
    spec.timeout = std::chrono::hours(1);
    request_ = messenger_.send(spec).request;
    return request_->id;
  }
  // A receive that has answered the peer's offer with a place.
  std::uint32_t show_place() {
    mover_.wants_pushes = true;
    ReceiveSpec spec;
    spec.pattern = {0, 1, 0};
    spec.capacity_bytes = bytes;
    spec.device = &memory_;
    spec.timeout = std::chrono::hours(1);
    request_ = messenger_.receive(spec).request;
    PacketHeader header{.kind = PacketKind::device_offer};
    header.id = 7;
    header.message_bytes = bytes;
    const std::vector<std::byte> key(sizeof(RemoteKey));
    header.payload_bytes = static_cast<std::uint32_t>(key.size());
    messenger_.on_packet(link_, header, key);
    EXPECT_EQ(request_->state, RequestState::moving);
    EXPECT_EQ(board_.offers.size(), 1U) << "a place";
    return request_->id;
  }
  void grant(std::uint32_t id, std::size_t place_bytes) {
    PacketHeader header{.kind = PacketKind::grant, .tag = 9};
    header.id = id;
    header.message_bytes = bytes;
    const std::vector<std::byte> place(place_bytes);
    header.payload_bytes = static_cast<std::uint32_t>(place_bytes);
    messenger_.on_packet(link_, header, place);
    for (int i = 0; i < 5; ++i) messenger_.pump();
  }
  void say_pushed(std::uint32_t id) {
    PacketHeader header{.kind = PacketKind::pushed, .tag = 1};
    header.id = id;
    messenger_.on_packet(link_, header, {});
  }
  void send_data(std::uint32_t id, std::uint32_t size) {
    PacketHeader header{.kind = PacketKind::data};
    header.id = id;
    header.payload_bytes = size;
    messenger_.on_packet(link_, header, std::vector<std::byte>(size, std::byte{5}));
  }
  void take_place() { board_.offers[0].state = State::taken; }

  PretendDevice device_;
  PretendDeviceBoard board_;
  PretendDeviceMover mover_{board_};
  PretendMemory memory_{device_, std::vector<std::byte>(bytes)};
  ForgedLink link_;
  Messenger messenger_{MessengerOptions{.self = 0, .peer_count = 2}};
  Request* request_ = nullptr;
};

class APlaceOfAnotherSizeThanKeysHave : public HostilePeerOfADevice,
                                        public testing::WithParamInterface<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Bytes, APlaceOfAnotherSizeThanKeysHave,
                         testing::Values(1, sizeof(RemoteKey) - 1, sizeof(RemoteKey) + 1));

TEST_P(APlaceOfAnotherSizeThanKeysHave, IsNone) {
  grant(offer(), GetParam());
  EXPECT_EQ(request_->state, RequestState::done);
  EXPECT_EQ(request_->status.code(), Code::ok);
  EXPECT_EQ(link_.sent.back().kind, PacketKind::data);
  close();
}

TEST_F(HostilePeerOfADevice, AGrantOfWhatHasGoneIsRefused) {
  const std::uint32_t id = offer();
  grant(id, 0);
  ASSERT_EQ(request_->state, RequestState::done);
  const std::size_t sent = link_.sent.size();
  grant(id, sizeof(RemoteKey));
  EXPECT_EQ(link_.sent.size(), sent + 1);
  EXPECT_EQ(link_.sent.back().kind, PacketKind::revoked);
  EXPECT_FALSE(link_.closed);
  close();
}

TEST_F(HostilePeerOfADevice, APushThatWasNotAskedForEndsTheLink) {
  const std::uint32_t id = offer();
  say_pushed(id + 100);  // its receive may have ended
  EXPECT_FALSE(link_.closed);
  say_pushed(id);
  EXPECT_TRUE(link_.closed);
  close();
  EXPECT_EQ(request_->status.code(), Code::protocol_violation);
}

TEST_F(HostilePeerOfADevice, APushIsToldOnce) {
  const std::uint32_t id = show_place();
  take_place();
  say_pushed(id);
  EXPECT_EQ(request_->state, RequestState::done);
  say_pushed(id);
  EXPECT_FALSE(link_.closed);
  close();
}

// The place is the peer's no more when the receive has ended.
TEST_F(HostilePeerOfADevice, DataInsteadOfAPushTakeThePlaceBack) {
  const std::uint32_t id = show_place();
  send_data(id, bytes);
  EXPECT_EQ(request_->state, RequestState::done);
  EXPECT_EQ(request_->status.code(), Code::ok);
  EXPECT_EQ(board_.offers[0].state, State::withdrawn);
  EXPECT_EQ(memory_.memory.back(), std::byte{5});
  say_pushed(id);
  EXPECT_FALSE(link_.closed);
  close();
}

// ... and where it cannot be taken back, the device waits for what the peer has begun (Transfer::let_go()).
TEST_F(HostilePeerOfADevice, DataForATakenPlaceEndTheReceive) {
  const std::uint32_t id = show_place();
  take_place();
  send_data(id, bytes);
  EXPECT_EQ(request_->state, RequestState::done);
  EXPECT_EQ(board_.offers[0].state, State::taken);
  say_pushed(id);
  EXPECT_FALSE(link_.closed);
  close();
}

TEST_F(HostilePeerOfADevice, APlaceIsTakenBackFromASenderThatDied) {
  show_place();
  close(Code::peer_died);
  EXPECT_EQ(request_->status.code(), Code::peer_died);
  EXPECT_EQ(board_.offers[0].state, State::withdrawn);
}

// The push is made, or found to be too late, and the link has no room for saying so.
TEST_F(HostilePeerOfADevice, APushThatCannotBeToldEndsWithTheReceiver) {
  const std::uint32_t id = offer();
  link_.refuses = true;
  grant(id, sizeof(RemoteKey));
  const std::size_t sent = link_.sent.size();
  close(Code::peer_died);
  EXPECT_EQ(request_->state, RequestState::done);
  EXPECT_EQ(link_.sent.size(), sent);
}

TEST_F(HostilePeerOfADevice, AnOfferIsTakenBackFromAReceiverThatDied) {
  offer();
  close(Code::peer_died);
  EXPECT_EQ(request_->status.code(), Code::peer_died);
  EXPECT_EQ(board_.offers[0].state, State::withdrawn);
}

TEST_F(HostilePeerOfADevice, WaitersAreReleasedBeforeAnythingEndsOfWhoDied) {
  show_place();
  take_place();
  memory_.on_release = [this] { EXPECT_TRUE(mover_.peer_is_gone); };
  messenger_.on_closed(link_, Code::peer_died);
  EXPECT_EQ(request_->status.code(), Code::peer_died);
  EXPECT_TRUE(mover_.has_ended);
}

}  // namespace
}  // namespace parley::transport
