// Tensors on devices, of which the CPU touches no byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/error.h>
#include <parley/stream.h>
#include <parley/tensor.h>

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/simulated_device/simulated_device.h"
#include "transport/cuda/runtime.h"

namespace parley {
namespace {

using cuda::testing::Call;
using ::testing::HasSubstr;

constexpr Device first{Device::cuda, 0};
constexpr Device second{Device::cuda, 1};

class DeviceTensor : public ::testing::Test {
 protected:
  DeviceTensor() { cuda::replace_runtime(&device_, ""); }
  ~DeviceTensor() override {
    EXPECT_EQ(device_.live_allocations(), 0U);
    cuda::replace_runtime(nullptr, "the test is over");
  }
  template <typename Action>
  static std::string misuse(const Action& action) {
    try {
      action();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no UsageError";
  }

  cuda::testing::SimulatedDevice device_{{.devices = 2, .bytes_per_device = std::size_t{64} << 20}};
};

TEST_F(DeviceTensor, IsMadeThereAndComesBack) {
  for (const Device device : {first, second}) {
    EXPECT_EQ(Tensor::zeros({2, 3}, DType::i32, device).to({}).to_string(),
              Tensor::zeros({2, 3}, DType::i32).to_string());
    EXPECT_EQ(Tensor::ones(5, DType::f16, device).to({}).to_string(),
              Tensor::ones(5, DType::f16).to_string());
    EXPECT_EQ(Tensor::full(3, 2.5, DType::f64, device).to({}).to_string(),
              Tensor::full(3, 2.5, DType::f64).to_string());
    const Tensor tensor = Tensor::arange({2, 2}, DType::i64, device);
    EXPECT_EQ(tensor.device(), device);
    EXPECT_TRUE(tensor.is_owning());
    EXPECT_EQ(tensor.to({}).to_string(), Tensor::arange({2, 2}, DType::i64).to_string());
  }
}

TEST_F(DeviceTensor, GoesFromDeviceToDevice) {
  const Tensor there = Tensor::arange(1000, DType::i32, first).to(second);
  EXPECT_EQ(there.device(), second);
  EXPECT_EQ(there.to({}).to_string(), Tensor::arange(1000, DType::i32).to_string());
  const Tensor same = there.clone();
  EXPECT_EQ(same.device(), second);
  EXPECT_NE(same.data(), there.data());
}

TEST_F(DeviceTensor, TakesWhatOthersHold) {
  EXPECT_EQ(device_count(), 2);
  const Tensor on_first = Tensor::zeros({2, 3}, DType::i32, first);
  const Tensor on_second = Tensor::zeros({2, 3}, DType::i32, second);
  const Tensor on_cpu = Tensor::zeros({2, 3}, DType::i32);
  on_first.copy_from(Tensor::arange({2, 3}, DType::i32));
  on_second.copy_from(on_first);
  on_cpu.copy_from(on_second);
  EXPECT_EQ(on_cpu.to_string(), Tensor::arange({2, 3}, DType::i32).to_string());
  on_first.select(0, 1).copy_from(on_cpu.select(0, 0));
  EXPECT_EQ(on_first.select(0, 1).to({}).to_string(), Tensor::arange(3, DType::i32).to_string());
  on_cpu.narrow(0, 0, 1).copy_from(Tensor::full({1, 3}, 7, DType::i32));
  EXPECT_EQ(on_cpu.select(0, 0).to_string(), Tensor::full(3, 7, DType::i32).to_string());
}

TEST_F(DeviceTensor, TakesNothingThatDoesNotFit) {
  const Tensor tensor = Tensor::zeros({2, 3}, DType::i32, first);
  EXPECT_THAT(misuse([&] {
                tensor.copy_from(Tensor::zeros({3, 2}, DType::i32));
              }),
              HasSubstr("of shape [3, 2] and i32 do not go into a tensor of shape [2, 3] and i32"));
  EXPECT_THAT(misuse([&] { tensor.copy_from(Tensor::zeros({2, 3})); }), HasSubstr("[2, 3] and f32"));
  EXPECT_THAT(misuse([&] {
                tensor.narrow(1, 0, 2).copy_from(Tensor::zeros({2, 2}, DType::i32));
              }),
              HasSubstr("must be contiguous"));
  const std::vector<std::int32_t> constant(6);
  EXPECT_NE(misuse([&] { Tensor(constant).copy_from(Tensor::zeros(6, DType::i32)); }), "no UsageError");
}

TEST_F(DeviceTensor, PartsShareItsMemory) {
  Tensor part;
  {
    const Tensor whole = Tensor::arange({4, 5}, DType::i32, first);
    part = whole.narrow(0, 1, 2).reshape(10);
  }
  EXPECT_EQ(device_.live_allocations(), 1U);
  EXPECT_EQ(part.select(0, 3).to({}).item<int>(), 8);
  const std::string text = misuse([] {
    const Tensor whole = Tensor::zeros({4, 5}, DType::i32, first);
    (void)whole.narrow(1, 0, 2).to({});
  });
  EXPECT_THAT(text, HasSubstr("is not contiguous, and cannot be copied"));
  // Of the CPU's, parts are copied as they lie.
  const Tensor on_cpu = Tensor::arange({2, 3}, DType::i32);
  EXPECT_EQ(on_cpu.narrow(1, 1, 2).to(first).to({}).to_string(), on_cpu.narrow(1, 1, 2).clone().to_string());
}

TEST_F(DeviceTensor, NothingIsMadeOfNothing) {
  const Tensor empty = Tensor::zeros({0, 3}, DType::f32, first);
  EXPECT_EQ(empty.to({}).numel(), 0U);
  EXPECT_NE(empty.data(), nullptr);
}

TEST_F(DeviceTensor, CopiesFollowTheCurrentStream) {
  const cuda::DeviceScope scope(device_, 0);
  cuda::Stream stream = nullptr;
  ASSERT_EQ(device_.create_stream(stream), cuda::Code::ok);
  const Tensor tensor = Tensor::zeros(1000, DType::u8, first);
  EXPECT_EQ(current_stream(), nullptr);
  {
    const StreamGuard guard(stream);
    EXPECT_EQ(current_stream(), stream);
    {
      const StreamGuard inner(nullptr);
      EXPECT_EQ(current_stream(), nullptr);
    }
    ASSERT_EQ(device_.fill(tensor.mutable_data(), 7, 1000, stream), cuda::Code::ok);
    EXPECT_EQ(tensor.to({}).select(0, 999).item<int>(), 7);
  }
  EXPECT_EQ(current_stream(), nullptr);
  EXPECT_EQ(device_.destroy_stream(stream), cuda::Code::ok);
}

TEST_F(DeviceTensor, ElementsAreTheDevicesAlone) {
  const Tensor tensor = Tensor::zeros({2, 3}, DType::f32, first);
  for (const auto& touch :
       std::vector<std::function<void()>>{[&] { tensor.fill(1); }, [&] { (void)tensor.data_as<float>(); },
                                          [&] { (void)tensor.reshape(6).select(0, 1).item(); }})
    EXPECT_THAT(misuse(touch),
                HasSubstr("is on cuda:0 and its elements can be read and written on the CPU only: "
                          "take to(parley::Device{})"));
  EXPECT_EQ(tensor.to_string(), "tensor(on cuda:0, shape=[2, 3], dtype=f32)");
  std::ostringstream out;
  out << tensor;
  EXPECT_EQ(out.str(), tensor.to_string());
}

TEST_F(DeviceTensor, ViewsAreOfTheDeviceThatTheySay) {
  const Tensor tensor = Tensor::zeros(8, DType::f32, second);
  const Tensor view = Tensor::from_blob(tensor.mutable_data() + 4, 4, DType::f32, {}, second);
  EXPECT_EQ(view.device(), second);
  std::vector<float> host(8);
  EXPECT_THAT(misuse([&] { (void)Tensor::from_blob(tensor.mutable_data(), 8, DType::f32, {}, first); }),
              HasSubstr("from_blob: the address is no memory of cuda:0: it is memory of cuda:1"));
  EXPECT_THAT(misuse([&] { (void)Tensor::from_blob(host.data(), 8, DType::f32, {}, first); }),
              HasSubstr("it is memory of the host"));
  const Tensor pinned = Tensor::pinned(8);
  EXPECT_THAT(misuse([&] { (void)Tensor::from_blob(pinned.mutable_data(), 8, DType::f32, {}, first); }),
              HasSubstr("it is pinned memory of the host"));
  EXPECT_THAT(misuse([&] {
                (void)Tensor::zeros(1, DType::f32, {Device::cuda, 2});
              }),
              HasSubstr("there is no cuda:2 here, only cuda:0 to cuda:1"));
  EXPECT_THAT(misuse([&] {
                (void)Tensor::zeros(1, DType::f32, {Device::cuda, -1});
              }),
              HasSubstr("there is no cuda:-1 here"));
}

TEST_F(DeviceTensor, DevicesOfAddresses) {
  const Tensor on_second = Tensor::zeros(8, DType::f32, second);
  EXPECT_EQ(device_of(on_second.data() + 5), second);
  const Tensor pinned = Tensor::pinned(8);
  EXPECT_EQ(device_of(pinned.data()), Device{});
  EXPECT_EQ(device_of(&pinned), Device{});
  EXPECT_EQ(device_of(nullptr), Device{});
}

TEST_F(DeviceTensor, ManagedMemoryIsOfTheDeviceItWasMadeFor) {
  for (const Device device : {first, second}) {
    const cuda::DeviceScope scope(device_, device.index);
    std::byte* memory = nullptr;
    ASSERT_EQ(device_.allocate_managed(64, memory), cuda::Code::ok);
    EXPECT_EQ(device_of(memory + 5), device);
    EXPECT_EQ(device_.free(memory), cuda::Code::ok);
  }
}

TEST_F(DeviceTensor, PinnedOnesAreTheCpus) {
  const Tensor pinned = Tensor::pinned({2, 2}, DType::i32);
  EXPECT_TRUE(pinned.device().is_cpu());
  pinned.fill(3);
  EXPECT_EQ(pinned.to(first).to({}).to_string(), pinned.to_string());
  EXPECT_EQ(device_.waiting_copies(), 1U) << "only the copy to pageable memory waits";
}

TEST_F(DeviceTensor, WantOfMemoryIsAResourceError) {
  try {
    (void)Tensor::empty(std::int64_t{1} << 30, DType::f32, first);
    FAIL();
  } catch (const ResourceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no memory for a tensor of f32 with shape [1073741824] on cuda:0"));
  }
}

TEST_F(DeviceTensor, AFailureOfTheDeviceIsASystemError) {
  const Tensor tensor = Tensor::zeros(8, DType::f32, first);
  device_.fail_next(Call::copy, cuda::Code::illegal_address);
  EXPECT_THROW((void)tensor.to({}), SystemError);
}

TEST(NoDevice, IsSaidInWords) {
  cuda::replace_runtime(nullptr, "libcuda.so.1 was not found");
  std::vector<float> host(4);
  try {
    (void)Tensor::from_blob(host.data(), 4, DType::f32, {}, first);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "from_blob: there is no CUDA here: libcuda.so.1 was not found");
  }
  EXPECT_THROW((void)Tensor::zeros(1, DType::f32, first), UsageError);
  EXPECT_THROW((void)Tensor::pinned(1), UsageError);
  EXPECT_EQ(device_of(host.data()), Device{});
}

}  // namespace
}  // namespace parley
