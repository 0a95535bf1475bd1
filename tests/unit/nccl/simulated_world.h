#pragma once

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <cstdlib>
#include <memory>

#include "api/nccl/runtime.h"
#include "tests/simulated_nccl/simulated_nccl.h"
#include "tests/unit/tensor/host_kernels.h"
#include "transport/cuda/runtime.h"

namespace parley::nccl::testing {

// Ranks that are threads, with a device each, and NCCL between them. Nothing is left of them in the end, and
// NCCL was never called against its rules.
class SimulatedWorld : public ::testing::Test {
 protected:
  SimulatedWorld() {
    for (const auto& entry : parley::tests::host_kernels())
      device_.add_kernel(entry.first, [run = entry.second](std::span<const std::byte> arguments,
                                                           const cuda::testing::KernelMemory& memory) {
        run(arguments, 32, [&memory](const void* address) { return memory.reach(address); });
      });
    cuda::replace_runtime(&device_, "");
    replace_runtime(&nccl_, "");
  }
  ~SimulatedWorld() override {
    EXPECT_EQ(nccl_.live_communicators(), 0U);
    EXPECT_EQ(nccl_.violations(), std::vector<std::string>());
    EXPECT_EQ(device_.live_allocations(), 0U);
    EXPECT_EQ(device_.live_events(), 0U);
    replace_runtime(nullptr, "the test is over");
    cuda::replace_runtime(nullptr, "the test is over");
    unsetenv("PARLEY_DEVICE_PATH");
  }

  static Device device_of(const ProcessGroup& group) { return {Device::cuda, group.rank()}; }
  template <typename T>
  static Tensor filled(std::int64_t count, T value, Device device) {
    return Tensor::full({count}, value, dtype_of<T>, device);
  }
  static Tensor ones(const ProcessGroup& group, std::int64_t count) {
    return filled(count, 1.0F, device_of(group));
  }
  // The last element.
  template <typename T>
  static T last_of(const Tensor& tensor) {
    const Tensor copy = tensor.to(Device{});
    return copy.data_as<T>().back();
  }

  static constexpr int devices = 5;
  std::unique_ptr<Fabric> fabric_ = std::make_unique<Fabric>();
  cuda::testing::SimulatedDevice device_{{.devices = devices}};
  SimulatedNccl nccl_{device_, *fabric_};
};

}  // namespace parley::nccl::testing
