// Peers that somebody waits for are asked whether they live, and what follows from their silence.
#include <gtest/gtest.h>
#include <parley/log.h>

#include <algorithm>
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

class Heartbeat : public testing::Test {
 protected:
  Heartbeat() {
    messenger_.peer(1).title = "rank 1 (elsewhere, pid 11)";
    messenger_.on_link(1, link_);
    set_log_sink([this](const LogRecord& record) { log_.emplace_back(record.message); });
  }
  ~Heartbeat() override {
    set_log_sink({});
    if (link_.user != nullptr) messenger_.on_closed(link_, Code::closed);
    for (Request* request : requests_) messenger_.release(*request);
  }

  Request& receive(std::uint32_t source) {
    ReceiveSpec spec;
    spec.pattern = {0, source, 0};
    spec.data = &byte_;
    spec.capacity_bytes = 1;
    spec.timeout = std::chrono::hours(1);
    requests_.push_back(messenger_.receive(spec).request);
    return *requests_.back();
  }
  // Ticks every 100 ms of a time of our own.
  void pass(std::chrono::milliseconds time) {
    for (auto left = time; left > 0ms; left -= 100ms) messenger_.tick(now_ += 100ms);
  }
  void say(PacketKind kind) { messenger_.on_packet(link_, PacketHeader{.kind = kind}, {}); }
  [[nodiscard]] long count(PacketKind kind) const {
    return std::count_if(link_.sent.begin(), link_.sent.end(),
                         [kind](const PacketHeader& header) { return header.kind == kind; });
  }

  ForgedLink link_;
  Messenger messenger_{MessengerOptions{.self = 0, .peer_count = 3}};
  std::vector<Request*> requests_;
  std::vector<std::string> log_;
  std::byte byte_{};
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
};

TEST_F(Heartbeat, IsAnsweredAndNotAskedForWhileNobodyWaits) {
  pass(10s);
  EXPECT_EQ(count(PacketKind::ping), 0);
  say(PacketKind::ping);
  EXPECT_EQ(count(PacketKind::pong), 1);
}

TEST_F(Heartbeat, OfAPeerThatAnswersIsAskedForOnceInAWhile) {
  receive(1);
  for (int second = 0; second < 60; ++second) {
    pass(1s);
    say(PacketKind::pong);
  }
  EXPECT_GE(count(PacketKind::ping), 50);
  EXPECT_LE(count(PacketKind::ping), 60);
  EXPECT_TRUE(log_.empty());
}

TEST_F(Heartbeat, IsAskedOfEverybodyForAReceiveFromAnySource) {
  receive(any_source);
  pass(2s);
  EXPECT_EQ(count(PacketKind::ping), 1);
}

TEST_F(Heartbeat, AMessageIsAnswerEnough) {
  receive(1);
  for (int i = 0; i < 50; ++i) {
    pass(200ms);
    say(PacketKind::credit);
  }
  EXPECT_EQ(count(PacketKind::ping), 0);
}

TEST_F(Heartbeat, WithoutAnAnswerThePeerIsSuspectedOnceAndClearedByItsNextSign) {
  Request& request = receive(1);
  pass(5s);
  EXPECT_TRUE(log_.empty());
  pass(10s);
  ASSERT_EQ(log_.size(), 1U);
  EXPECT_NE(log_[0].find("rank 1 (elsewhere, pid 11) has not answered for 5 s"), std::string::npos)
      << log_[0];
  EXPECT_EQ(request.state, RequestState::posted) << "a stopped process is not a dead one";
  EXPECT_EQ(count(PacketKind::ping), 1) << "one question at a time";
  say(PacketKind::pong);
  pass(100ms);
  ASSERT_EQ(log_.size(), 2U);
  EXPECT_NE(log_[1].find("rank 1 (elsewhere, pid 11) answers again, after 14 s"), std::string::npos)
      << log_[1];
  pass(7s);
  EXPECT_EQ(log_.size(), 3U) << "and suspected anew";
}

TEST_F(Heartbeat, ASilentHostTakesItsProcessWithIt) {
  Request& request = receive(1);
  pass(2s);
  link_.silent_for = 4s;
  pass(1s);
  EXPECT_FALSE(link_.closed);
  link_.silent_for = 4500ms;
  pass(100ms);
  ASSERT_TRUE(link_.closed);
  messenger_.on_closed(link_, Code::closed);
  link_.user = nullptr;
  EXPECT_EQ(request.status.code(), Code::peer_died);
  EXPECT_EQ(request.status.native(), ETIMEDOUT);
  EXPECT_EQ(messenger_.dead_process(), 1U);
}

// We were stopped ourselves, or waited for nobody: what we did not hear in that time says nothing.
TEST_F(Heartbeat, APauseOfOursIsNotHeldAgainstThePeer) {
  receive(1);
  pass(2s);
  link_.silent_for = 60s;  // the clocks of the kernel went on
  now_ += 60s;
  pass(400ms);
  EXPECT_FALSE(link_.closed);
  EXPECT_TRUE(log_.empty());
}

TEST_F(Heartbeat, IsNotAskedForOnABlockedLinkWhichSaysAsMuch) {
  link_.refuses = true;
  receive(1);
  pass(6s);
  EXPECT_EQ(log_.size(), 1U);
  link_.refuses = false;
  messenger_.on_writable(link_);
  pass(200ms);
  EXPECT_EQ(log_.size(), 2U) << "it reads";
}

}  // namespace
}  // namespace parley::transport
