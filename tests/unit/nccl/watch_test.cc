// The watch over what NCCL does on the device: where its mark lies in the caller's stream, which is his again
// as soon as he has waited.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/unit/nccl/simulated_world.h"

namespace parley::nccl::testing {
namespace {

using namespace std::chrono_literals;

// The watch looks once a second.
constexpr auto longer_than_a_look = 1500ms;

class NcclWatch : public SimulatedWorld {
 protected:
  // Two calls in a stream of their own, the second one told while the first one is under way; they have
  // ended.
  cuda::Stream call_twice(ProcessGroup& world, std::chrono::nanoseconds timeout) {
    const int device = world.rank();
    const Tensor first = ones(world, 4), second = ones(world, 4);  // to free one waits for the device
    world.all_reduce(first);
    cuda::Stream stream = nullptr;
    EXPECT_EQ(device_.create_stream(stream), cuda::Code::ok);
    device_.hold(stream, device);
    {
      const StreamGuard guard(stream);
      for (const Tensor& tensor : {first, second}) world.all_reduce(tensor, {.timeout = timeout});
    }
    device_.let_go(stream, device);
    EXPECT_EQ(device_.synchronize(stream), cuda::Code::ok);
    return stream;
  }

  void expect_sums(ProcessGroup& world) {
    Tensor tensor = ones(world, 4);
    world.all_reduce(tensor);
    EXPECT_EQ(last_of<float>(tensor), 2.0F);
  }
};

TEST_F(NcclWatch, DoesNotTouchAStreamThatWasWaitedFor) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const cuda::DeviceScope scope(device_, world.rank());
    const cuda::Stream stream = call_twice(world, 10s);
    ASSERT_EQ(device_.destroy_stream(stream), cuda::Code::ok);
    std::this_thread::sleep_for(longer_than_a_look);
    expect_sums(world);
  });
}

TEST_F(NcclWatch, DoesNotWaitForWhatTheCallerTellsHisStreamLater) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const int device = world.rank();
    const cuda::DeviceScope scope(device_, device);
    const Tensor mine = ones(world, 4);
    const cuda::Stream stream = call_twice(world, 1s);
    device_.hold(stream, device);  // a long kernel of the caller's
    ASSERT_EQ(device_.fill(mine.mutable_data(), 1, 4, stream), cuda::Code::ok);
    std::this_thread::sleep_for(longer_than_a_look + 1s);
    device_.let_go(stream, device);
    ASSERT_EQ(device_.synchronize(stream), cuda::Code::ok);
    expect_sums(world);
    ASSERT_EQ(device_.destroy_stream(stream), cuda::Code::ok);
  });
}

}  // namespace
}  // namespace parley::nccl::testing
