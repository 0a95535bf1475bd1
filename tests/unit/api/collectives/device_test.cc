// Every collective on devices, by ranks that are threads of one process.
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include "tests/simulated_device/simulated_device.h"
#include "tests/unit/api/collectives/every_collective.h"
#include "tests/unit/tensor/host_kernels.h"
#include "transport/cuda/runtime.h"

namespace parley::testing {
namespace {

class CollectivesOnDevices : public ::testing::TestWithParam<DType> {
 protected:
  CollectivesOnDevices() {
    for (const auto& entry : tests::host_kernels())
      device_.add_kernel(entry.first, [run = entry.second](std::span<const std::byte> arguments,
                                                           const cuda::testing::KernelMemory& memory) {
        run(arguments, 32, [&memory](const void* address) { return memory.reach(address); });
      });
    cuda::replace_runtime(&device_, "");
  }
  ~CollectivesOnDevices() override {
    EXPECT_EQ(device_.live_allocations(), 0U);
    cuda::replace_runtime(nullptr, "the test is over");
  }
  cuda::testing::SimulatedDevice device_{{.devices = 2}};
};

TEST_P(CollectivesOnDevices, GiveWhatTheyGiveOnTheCpu) {
  for (const int size : {1, 2, 5}) {
    run_world(size, [&](ProcessGroup& world) {
      // Ranks may be on different devices.
      const Device device{Device::cuda, world.rank() % 2};
      for (const bool in_place : {false, true}) {
        Case of{.count = 7, .dtype = GetParam(), .root = size / 2, .in_place = in_place, .device = device};
        expect_every_collective(world, of);
        expect_uneven_collectives(world, of);
        of.async_op = true;
        of.count = 3001;
        expect_every_collective(world, of);
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CollectivesOnDevices,
                         ::testing::Values(DType::f32, DType::i64, DType::f16, DType::u8),
                         [](const auto& of) { return std::string(name(of.param)); });

}  // namespace
}  // namespace parley::testing
