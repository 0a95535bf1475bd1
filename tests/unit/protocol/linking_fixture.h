#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/unit/protocol/forged_link.h"
#include "transport/protocol/messenger.h"

namespace parley::transport {

// Process 1 of three; 0 and 2 are the test.
class Linking : public testing::Test {
 protected:
  Linking() {
    messenger_.connect_on_demand([this](PeerId peer) { dialled_.push_back(peer); });
  }
  ~Linking() override {
    for (ForgedLink* link : {&ours_, &theirs_}) messenger_.on_closed(*link, base::Code::closed);
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
    for (auto passed = std::chrono::milliseconds(0); passed <= time; passed += std::chrono::milliseconds(100))
      messenger_.tick(now + passed);
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

}  // namespace parley::transport
