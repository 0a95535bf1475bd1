// Blocks of device memory: used again, freed when there are too many, and nobody waits for the device.
#include "transport/cuda_ipc/device_blocks.h"

#include <optional>

#include "tests/unit/cuda/device.h"

namespace parley::transport::cuda_ipc {
namespace {

using cuda::testing::Call;

class BlocksOfADevice : public ::testing::Test {
 protected:
  ~BlocksOfADevice() override {
    blocks_.reset();
    events_.reset();
    EXPECT_EQ(device().live_allocations(), 0U);
    EXPECT_EQ(device().live_events(), 0U);
  }
  cuda::testing::SimulatedDevice& device() { return own_.device; }
  // A block that a stream which stands still is told to write.
  DeviceBlocks::Block take_for_held_stream() {
    const auto block = blocks_->take(mib, stream_);
    EXPECT_NE(block.memory, nullptr);
    device().hold(stream_);
    EXPECT_EQ(device().fill(block.memory, 1, 1, stream_), cuda::Code::ok);
    return block;
  }

  static constexpr std::size_t mib = std::size_t{1} << 20;
  cuda::testing::EnteredDevice own_;
  cuda::Stream stream_ = own_.stream();
  std::optional<cuda::EventPool> events_{own_.device};
  std::optional<DeviceBlocks> blocks_{std::in_place, own_.device, *events_, 2 * mib};
};

TEST_F(BlocksOfADevice, AreUsedAgain) {
  const auto first = blocks_->take(100, stream_);
  EXPECT_EQ(first.bytes, DeviceBlocks::least_bytes);
  blocks_->give_back_after(first, stream_);
  EXPECT_EQ(blocks_->take(mib, stream_).memory, first.memory);
  blocks_->give_back_after(first, stream_);
}

TEST_F(BlocksOfADevice, AreFreedWhereThereAreTooManyAndNothingReadsThem) {
  const DeviceBlocks::Block three[]{take_for_held_stream(), take_for_held_stream(), take_for_held_stream()};
  for (const auto& block : three) blocks_->give_back_after(block, stream_);
  EXPECT_EQ(device().live_allocations(), 3U) << "freeing would have waited for the stream";
  device().let_go(stream_);
  ASSERT_EQ(device().synchronize(stream_), cuda::Code::ok);
  const auto other = blocks_->take(4 * mib, stream_);
  EXPECT_EQ(device().live_allocations(), 4U);
  blocks_->give_back_after(other, stream_);
  ASSERT_EQ(device().synchronize(stream_), cuda::Code::ok);
  blocks_->give_back_after(blocks_->take(mib, stream_), stream_);
  EXPECT_LE(device().live_allocations(), 2U);
}

TEST_F(BlocksOfADevice, WhereTheDeviceHasNoMoreWhatNothingReadsGoes) {
  const auto old = blocks_->take(mib, stream_);
  blocks_->give_back_after(old, stream_);
  ASSERT_EQ(device().synchronize(stream_), cuda::Code::ok);
  device().fail_next(Call::allocate, cuda::Code::out_of_memory);
  const auto larger = blocks_->take(2 * mib, stream_);
  EXPECT_NE(larger.memory, nullptr);
  EXPECT_EQ(device().live_allocations(), 1U);
  blocks_->give_back_after(larger, stream_);
}

TEST_F(BlocksOfADevice, WhereTheDeviceHasNoMoreNobodyWaitsForWhatIsRead) {
  blocks_->give_back_after(take_for_held_stream(), stream_);
  device().fail_next(Call::allocate, cuda::Code::out_of_memory, 2);
  EXPECT_EQ(blocks_->take(2 * mib, stream_).memory, nullptr);
  EXPECT_EQ(device().live_allocations(), 1U);
  device().let_go(stream_);
}

}  // namespace
}  // namespace parley::transport::cuda_ipc
