// What the contract leaves open: when a lane is full, and that a steady stream uses its memory again.
#include "transport/inproc/inproc_lane.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace parley::transport {
namespace {

using Push = InprocLane::Push;

class InprocLaneTest : public testing::Test {
 protected:
  static constexpr InprocLimits limits{.lane_bytes = 100, .lane_packets = 3, .copy_limit_bytes = 40};

  Push push(std::size_t bytes, Completion* done = nullptr) {
    PacketHeader header;
    header.payload_bytes = static_cast<std::uint32_t>(bytes);
    return lane.push(header, {payload.data(), bytes}, done);
  }

  std::array<std::byte, 1000> payload{};
  InprocLane lane{limits};
};

TEST_F(InprocLaneTest, HoldsSoManyPackets) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(push(0), Push::taken);
  EXPECT_EQ(push(0), Push::full);
}

TEST_F(InprocLaneTest, HoldsSoManyBytesAndCountsThemBack) {
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(push(60), Push::taken);
    EXPECT_EQ(push(40), Push::taken);
    EXPECT_EQ(push(1), Push::full);
    lane.pop();
    EXPECT_EQ(push(60), Push::taken);
    EXPECT_EQ(push(1), Push::full);
    lane.pop();
    lane.pop();
  }
}

TEST_F(InprocLaneTest, TakesAnyPacketWhenEmpty) {
  EXPECT_EQ(push(1000), Push::taken);
  EXPECT_EQ(push(0), Push::full);
  lane.pop();
  EXPECT_EQ(push(1000), Push::taken);
}

TEST_F(InprocLaneTest, TellsOnceThatTheRefusedPacketHasRoom) {
  EXPECT_EQ(push(30), Push::taken);
  EXPECT_EQ(push(60), Push::taken);
  EXPECT_EQ(push(50), Push::full);
  EXPECT_FALSE(lane.pop()) << "the other 60 bytes are still there, 50 do not fit";
  EXPECT_FALSE(lane.became_writable());
  EXPECT_TRUE(lane.pop());
  EXPECT_TRUE(lane.became_writable());
  EXPECT_FALSE(lane.became_writable());
}

TEST_F(InprocLaneTest, FinishesCompletionsInOrderOnceConsumed) {
  std::array<Completion, 3> done;
  EXPECT_EQ(push(30, &done[0]), Push::taken);
  EXPECT_EQ(push(30, &done[1]), Push::taken);
  EXPECT_EQ(push(30, &done[2]), Push::taken);
  EXPECT_EQ(lane.take_finished(), nullptr);
  EXPECT_TRUE(lane.pop());
  EXPECT_TRUE(lane.pop());
  EXPECT_EQ(lane.take_finished(), &done[0]);
  EXPECT_EQ(lane.take_finished(), &done[1]);
  EXPECT_EQ(lane.take_finished(), nullptr);
  EXPECT_EQ(lane.take_unfinished(), &done[2]);
  EXPECT_EQ(lane.take_unfinished(), nullptr);
}

TEST_F(InprocLaneTest, EndsAfterTheLastPacket) {
  EXPECT_EQ(push(1), Push::taken);
  lane.close_writer();
  EXPECT_EQ(push(1), Push::closed);
  EXPECT_FALSE(lane.at_end());
  lane.pop();
  EXPECT_TRUE(lane.at_end());
}

TEST_F(InprocLaneTest, TakesNothingWithoutAReader) {
  lane.close_reader();
  EXPECT_EQ(push(1), Push::closed);
}

TEST_F(InprocLaneTest, UsesPacketsAndSmallBuffersAgain) {
  EXPECT_EQ(push(40), Push::taken);
  const InprocPacket* packet = lane.peek();
  const std::byte* buffer = packet->payload();
  lane.pop();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(push(static_cast<std::size_t>(i % 41)), Push::taken);
    EXPECT_EQ(lane.peek(), packet);
    EXPECT_EQ(lane.peek()->payload(), buffer);
    lane.pop();
  }
}

TEST_F(InprocLaneTest, GivesLargeBuffersBack) {
  EXPECT_EQ(push(500), Push::taken);
  const InprocPacket* packet = lane.peek();
  EXPECT_NE(packet->large, nullptr);
  lane.pop();
  EXPECT_EQ(packet->large, nullptr);
}

}  // namespace
}  // namespace parley::transport
