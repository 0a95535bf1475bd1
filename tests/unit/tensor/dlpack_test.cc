// Tensors from other libraries and for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/dlpack.h>
#include <parley/error.h>

#include <array>
#include <cstdint>
#include <vector>

#include "tensor/dlpack_abi.h"
#include "tests/simulated_device/simulated_device.h"
#include "transport/cuda/runtime.h"

namespace parley {
namespace {

using ::testing::HasSubstr;

// A tensor of another library.
struct Foreign {
  explicit Foreign(DLDataType type = {kDLInt, 32, 1}) {
    managed.dl_tensor = {elements.data(), {kDLCPU, 0}, 2, type, shape.data(), nullptr, 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->deletions; };
  }
  std::array<std::int32_t, 6> elements{0, 1, 2, 3, 4, 5};
  std::array<std::int64_t, 2> shape{2, 3};
  std::array<std::int64_t, 2> strides{1, 2};
  int deletions = 0;
  DLManagedTensor managed{};
};

std::string misuse(DLManagedTensor& managed) {
  try {
    (void)from_dlpack(&managed);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

TEST(DlpackIn, SharesTheMemoryUntilTheLastTensorHasGone) {
  Foreign foreign;
  {
    Tensor part;
    {
      const Tensor tensor = from_dlpack(&foreign.managed);
      EXPECT_EQ(tensor.to_string(), Tensor::arange({2, 3}, DType::i32).to_string());
      tensor.select(0, 0).fill(9);
      part = tensor.select(0, 1);
    }
    EXPECT_EQ(foreign.elements[0], 9);
    EXPECT_EQ(foreign.deletions, 0);
    EXPECT_EQ(part.select(0, 2).item<int>(), 5);
  }
  EXPECT_EQ(foreign.deletions, 1);
}

TEST(DlpackIn, UnderstandsStridesAndOffsets) {
  Foreign foreign;
  foreign.managed.dl_tensor.strides = foreign.strides.data();
  const Tensor tensor = from_dlpack(&foreign.managed);
  EXPECT_FALSE(tensor.is_contiguous());
  EXPECT_EQ(tensor.select(0, 1).select(0, 2).item<int>(), 5);
  EXPECT_EQ(tensor.select(0, 0).select(0, 1).item<int>(), 2);

  Foreign moved;
  moved.shape = {1, 2};
  moved.managed.dl_tensor.byte_offset = 3 * sizeof(std::int32_t);
  EXPECT_EQ(from_dlpack(&moved.managed).select(1, 0).item<int>(), 3);
  moved.managed.deleter = nullptr;
  EXPECT_EQ(from_dlpack(&moved.managed).numel(), 2U) << "without a deleter it is nobody's";
}

TEST(DlpackIn, RefusesWhatATensorCannotBeAndTakesNothingOver) {
  Foreign foreign({kDLInt, 32, 4});
  EXPECT_THAT(misuse(foreign.managed), HasSubstr("32 bits and 4 lanes have no equivalent"));
  foreign.managed.dl_tensor.dtype = {kDLFloat, 128, 1};
  EXPECT_THAT(misuse(foreign.managed), HasSubstr("type code 2, 128 bits"));
  foreign.managed.dl_tensor.dtype = {kDLInt, 32, 1};
  foreign.managed.dl_tensor.device.device_type = static_cast<DLDeviceType>(8);
  EXPECT_THAT(misuse(foreign.managed), HasSubstr("memory of device type 8"));
  foreign.managed.dl_tensor.device.device_type = kDLCPU;
  foreign.strides = {-1, 1};
  foreign.managed.dl_tensor.strides = foreign.strides.data();
  EXPECT_THAT(misuse(foreign.managed), HasSubstr("a negative stride: -1"));
  foreign.managed.dl_tensor.ndim = 9;
  EXPECT_THAT(misuse(foreign.managed), HasSubstr("9 dimensions"));
  EXPECT_EQ(foreign.deletions, 0);
}

TEST(DlpackIn, ReadOnlyAndVersions) {
  Foreign foreign;
  DLManagedTensorVersioned versioned{};
  versioned.version = {1, 7};
  versioned.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  versioned.dl_tensor = foreign.managed.dl_tensor;
  EXPECT_TRUE(from_dlpack(&versioned).is_read_only());
  versioned.flags = 0;
  EXPECT_FALSE(from_dlpack(&versioned).is_read_only());
  versioned.version = {2, 0};
  EXPECT_THROW((void)from_dlpack(&versioned), UsageError);
}

TEST(DlpackOut, EveryTypeComesBackAsItWas) {
  for (std::size_t i = 1; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype >= DType::f32_i32) {
      EXPECT_THROW((void)to_dlpack(Tensor::zeros(3, dtype)), UsageError) << name(dtype);
      continue;
    }
    const Tensor tensor = Tensor::zeros({2, 3}, dtype);
    const Tensor back = from_dlpack(to_dlpack(tensor));
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.shape(), tensor.shape());
    EXPECT_EQ(back.data(), tensor.data());
  }
}

TEST(DlpackOut, KeepsTheMemoryUntilItIsDeleted) {
  std::weak_ptr<const void> memory;
  DLManagedTensorVersioned* lent = nullptr;
  {
    const Tensor tensor = Tensor::arange({2, 3}, DType::i32);
    memory = tensor.owner();
    lent = to_dlpack_versioned(tensor.select(0, 1));
  }
  EXPECT_FALSE(memory.expired());
  EXPECT_EQ(lent->version.major, 1U);
  EXPECT_EQ(lent->flags, 0U);
  EXPECT_EQ(lent->dl_tensor.ndim, 1);
  EXPECT_EQ(lent->dl_tensor.shape[0], 3);
  EXPECT_EQ(lent->dl_tensor.strides[0], 1);
  EXPECT_EQ(static_cast<std::int32_t*>(lent->dl_tensor.data)[0], 3);
  lent->deleter(lent);
  EXPECT_TRUE(memory.expired());
}

TEST(DlpackOut, SaysWhatIsReadOnly) {
  const std::vector<float> elements(4);
  const Tensor tensor(elements);
  EXPECT_THROW((void)to_dlpack(tensor), UsageError);
  DLManagedTensorVersioned* const lent = to_dlpack_versioned(tensor);
  EXPECT_EQ(lent->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  EXPECT_TRUE(from_dlpack(lent).is_read_only());
}

TEST(DlpackDevices, GoBothWays) {
  cuda::testing::SimulatedDevice device({.devices = 2});
  cuda::replace_runtime(&device, "");
  {
    const Tensor tensor = Tensor::arange(10, DType::i32, {Device::cuda, 1});
    DLManagedTensor* const lent = to_dlpack(tensor);
    EXPECT_EQ(lent->dl_tensor.device.device_type, kDLCUDA);
    EXPECT_EQ(lent->dl_tensor.device.device_id, 1);
    const Tensor back = from_dlpack(lent);
    EXPECT_EQ(back.device(), tensor.device());
    EXPECT_EQ(back.to({}).to_string(), Tensor::arange(10, DType::i32).to_string());
    Foreign foreign;
    foreign.managed.dl_tensor.device = {kDLCUDA, 0};
    EXPECT_THAT(misuse(foreign.managed), HasSubstr("the address is no memory of cuda:0"));
  }
  EXPECT_EQ(device.live_allocations(), 0U);
  cuda::replace_runtime(nullptr, "the test is over");
}

}  // namespace
}  // namespace parley
