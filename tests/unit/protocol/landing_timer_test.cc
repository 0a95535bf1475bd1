// What messages over the link take in a stream, and what lone ones do.
#include "transport/protocol/landing_timer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace parley::transport {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t eight_pieces = 64 << 10;
constexpr std::size_t two_pieces = 16 << 10;

struct HandClock {
  static PathChoice::TimePoint now() { return time; }
  static inline PathChoice::TimePoint time{1h};
};

// A peer whose messages take 2 us to land; to pull one takes 3.5, or so.
class TimedPeer {
 public:
  explicit TimedPeer(std::chrono::nanoseconds pull = 3500ns, std::size_t size_of_each = eight_pieces)
      : size(size_of_each) {
    for (int i = 0; i < 20; ++i) {
      if (paths.wants_timing(Path::pull, size)) {
        const auto since = paths.begin(Path::pull, HandClock::time);
        paths.end(Path::pull, size, since, HandClock::time + pull, true);
      }
      HandClock::time += 10us;
    }
  }
  // `pause`: since the one before has landed. `before`, `while_it_lands`: how often we look.
  void land(std::chrono::nanoseconds pause, std::uint64_t before = 1, std::uint64_t while_it_lands = 1) {
    HandClock::time += pause;
    look += before;
    timer.begin(paths, clock, size, 8 << 10, look, sent_at, is_there);
    HandClock::time += 2us;
    look += while_it_lands;
    timer.end(paths, clock, size, look, from_memory);
  }

  std::size_t size;
  PathChoice paths;
  HandClock clock;
  BasicLandingTimer<HandClock> timer;
  std::uint64_t look = 1;
  std::uint64_t sent_at = 0;
  bool from_memory = false;
  bool is_there = true;  // when it begins to land
};

TEST(LandingTimer, OfALoneMessageCountsWhatItTook) {
  TimedPeer peer;
  for (int i = 0; i < 50; ++i) peer.land(1ms);
  EXPECT_EQ(peer.paths.favourite(eight_pieces), Path::link);
}

TEST(LandingTimer, ALoneMessagesFirstPieceWasCopiedBefore) {
  TimedPeer peer(3500ns, two_pieces);
  for (int i = 0; i < 50; ++i) peer.land(1ms);
  EXPECT_EQ(peer.paths.favourite(two_pieces), Path::pull) << "1 us there, and 2 us after that";
  TimedPeer slower(4500ns, two_pieces);
  for (int i = 0; i < 50; ++i) slower.land(1ms);
  EXPECT_EQ(slower.paths.favourite(two_pieces), Path::link);
}

TEST(LandingTimer, InAStreamTheSendersCopyCounts) {
  TimedPeer peer;
  for (int i = 0; i < 50; ++i) peer.land(2us);
  EXPECT_EQ(peer.paths.favourite(eight_pieces), Path::pull) << "a message each 4 us";
  TimedPeer faster;
  for (int i = 0; i < 50; ++i) faster.land(100ns);
  EXPECT_EQ(faster.paths.favourite(eight_pieces), Path::link) << "a message each 2.1 us";
}

// In one visit of the link, too.
TEST(LandingTimer, AStreamMayComeInOneLook) {
  TimedPeer peer;
  for (int i = 0; i < 50; ++i) peer.land(2us, 0, 0);
  EXPECT_EQ(peer.paths.favourite(eight_pieces), Path::pull) << "a message each 4 us";
  TimedPeer slower(6us);
  for (int i = 0; i < 50; ++i) slower.land(2us, 0, 0);
  EXPECT_EQ(slower.paths.favourite(eight_pieces), Path::link) << "a lone one would take 6";
}

TEST(LandingTimer, ALoneMessageThatWasThereAsAWholeWasCopiedBefore) {
  TimedPeer peer;
  for (int i = 0; i < 50; ++i) peer.land(1ms, 1, 0);
  EXPECT_EQ(peer.paths.favourite(eight_pieces), Path::pull) << "4 us there, and 2 us here";
}

// While its receiver copies one piece out, the next one comes.
TEST(LandingTimer, ALoneMessageMayComeInPiecesInOneLook) {
  TimedPeer peer;
  peer.is_there = false;
  for (int i = 0; i < 50; ++i) peer.land(1ms, 1, 0);
  EXPECT_EQ(peer.paths.favourite(eight_pieces), Path::link);
}

TEST(LandingTimer, WhatLandsFromMemoryWasCopiedFaster) {
  TimedPeer peer;
  peer.from_memory = true;
  for (int i = 0; i < 50; ++i) peer.land(1ms, 1, 0);
  // 1 us there, and 2 us here: no less than three quarters of a pull.
  EXPECT_EQ(peer.paths.favourite(eight_pieces), Path::pull);
  TimedPeer slower(5us);
  slower.from_memory = true;
  for (int i = 0; i < 50; ++i) slower.land(1ms, 1, 0);
  EXPECT_EQ(slower.paths.favourite(eight_pieces), Path::link);
}

TEST(LandingTimer, AnAnswerIsNoStream) {
  TimedPeer peer;
  for (int i = 0; i < 50; ++i) {
    peer.sent_at = ++peer.look;  // what it has waited for
    peer.land(4us);
  }
  EXPECT_EQ(peer.paths.favourite(eight_pieces), Path::link);
}

}  // namespace
}  // namespace parley::transport
