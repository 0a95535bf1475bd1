// Memory of a device that is used again, and given back where the device has no more.
#include "transport/cuda_ipc/device_blocks.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "tests/unit/cuda/device.h"

namespace parley::transport::cuda_ipc {
namespace {

using cuda::testing::Call;
using Block = DeviceBlocks::Block;

constexpr std::size_t MiB = DeviceBlocks::least_bytes;

// Of a device of 4 MiB.
class DeviceBlocksTest : public ::testing::Test {
 protected:
  ~DeviceBlocksTest() override {
    blocks_.reset();
    EXPECT_EQ(device().live_allocations(), 0U);
  }
  cuda::testing::SimulatedDevice& device() { return at_.device; }
  Block take(std::size_t bytes) { return blocks_->take(bytes, cuda::default_stream); }
  void give_back(const Block& block) { blocks_->give_back_after(block, cuda::default_stream); }
  // Such blocks, all at once.
  void take_and_give_back(std::vector<std::size_t> sizes) {
    std::vector<Block> all;
    for (const std::size_t bytes : sizes) {
      all.push_back(take(bytes));
      EXPECT_NE(all.back().memory, nullptr);
    }
    for (const Block& block : all) give_back(block);
  }

  cuda::testing::EnteredDevice at_{{.bytes_per_device = 4 * MiB}};
  cuda::EventPool events_{at_.device};
  std::optional<DeviceBlocks> blocks_{std::in_place, at_.device, events_};
};

TEST_F(DeviceBlocksTest, AreUsedAgainInOrder) {
  cuda::Stream first = at_.stream(), second = at_.stream();
  Block block = blocks_->take(1000, first);
  ASSERT_NE(block.memory, nullptr);
  EXPECT_EQ(block.bytes, DeviceBlocks::least_bytes);
  std::byte* const memory = block.memory;
  device().hold(first);
  EXPECT_EQ(device().fill(memory, 1, 1000, first), cuda::Code::ok);
  blocks_->give_back_after(block, first);
  block = blocks_->take(1000, second);
  EXPECT_EQ(block.memory, memory);
  EXPECT_EQ(device().fill(memory, 2, 1000, second), cuda::Code::ok);
  device().let_go(first);
  EXPECT_EQ(device().synchronize(second), cuda::Code::ok);
  EXPECT_EQ(*device().reach(memory, 1000), std::byte{2});
  blocks_->give_back_after(block, second);
  EXPECT_EQ(device().destroy_stream(first), cuda::Code::ok);
  EXPECT_EQ(device().destroy_stream(second), cuda::Code::ok);
}

TEST_F(DeviceBlocksTest, OfOtherSizesAreFreedWhereTheDeviceIsFull) {
  take_and_give_back({MiB, MiB, MiB});
  const Block larger = take(2 * MiB);
  EXPECT_NE(larger.memory, nullptr);
  EXPECT_EQ(device().count(Call::free), 1U) << "no more than have to be";
  give_back(larger);
  const Block all = take(3 * MiB);
  EXPECT_NE(all.memory, nullptr);
  EXPECT_EQ(all.bytes, 4 * MiB);
  EXPECT_EQ(device().live_allocations(), 1U);
  give_back(all);
}

TEST_F(DeviceBlocksTest, InUseAreNotFreedForOthers) {
  const Block in_use = take(MiB);
  take_and_give_back({MiB});
  EXPECT_EQ(take(4 * MiB).memory, nullptr);
  EXPECT_EQ(device().live_allocations(), 1U);
  EXPECT_EQ(device().fill(in_use.memory, 1, MiB, cuda::default_stream), cuda::Code::ok);
  EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  give_back(in_use);
  take_and_give_back({MiB, 2 * MiB});
}

TEST_F(DeviceBlocksTest, AreKeptWhereAllocatingFailsForAnotherReason) {
  take_and_give_back({MiB});
  device().fail_next(Call::allocate, cuda::Code::not_supported);
  EXPECT_EQ(take(2 * MiB).memory, nullptr);
  EXPECT_EQ(device().live_allocations(), 1U);
  EXPECT_EQ(device().count(Call::allocate), 2U);
}

TEST_F(DeviceBlocksTest, BeyondTheBoundAreFreed) {
  blocks_.emplace(device(), events_, 2 * MiB);
  take_and_give_back({MiB, MiB, MiB});
  EXPECT_EQ(device().live_allocations(), 2U);
  take_and_give_back({MiB, MiB});
  EXPECT_EQ(device().count(Call::allocate), 3U) << "those that were kept";
  EXPECT_EQ(device().live_allocations(), 2U) << "what is taken counts no more";
  take_and_give_back({4 * MiB});
  EXPECT_EQ(device().live_allocations(), 0U);
}

TEST_F(DeviceBlocksTest, BeyondTheBoundAreNoLargerThanAsked) {
  blocks_.emplace(device(), events_, 2 * MiB);
  for (const auto& [asked, given] : {std::pair(2 * MiB - 1, 2 * MiB), {2 * MiB + 1, 2 * MiB + 1}}) {
    const Block block = take(asked);
    EXPECT_EQ(block.bytes, given);
    give_back(block);
  }
}

// Without an event nobody knows when such a one is free.
TEST_F(DeviceBlocksTest, ThatCannotBeOrderedAreFreed) {
  for (const Call call : {Call::create_event, Call::record}) {
    const Block block = take(MiB);
    device().fail_next(call, cuda::Code::illegal_address);
    give_back(block);
    EXPECT_EQ(device().live_allocations(), 0U) << static_cast<int>(call);
  }
  take_and_give_back({MiB});
  device().fail_next(Call::wait, cuda::Code::illegal_address);
  EXPECT_EQ(take(MiB).memory, nullptr);
  EXPECT_EQ(device().live_allocations(), 0U);
  take_and_give_back({MiB});
}

}  // namespace
}  // namespace parley::transport::cuda_ipc
