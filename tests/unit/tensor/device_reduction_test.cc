#include "tensor/reduce/cuda/device_reduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/error.h>

#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tensor/reduce/cuda/arguments.h"
#include "tensor/reduce/cuda/kernel_image.h"
#include "tests/unit/tensor/device_sweep.h"
#include "tests/unit/tensor/host_api.h"

namespace parley::tensor {
namespace {

using cuda::Code;
using device::FewOperands;
using device::ManyOperands;
using tests::HostApi;
using Kind = ReduceOp::Kind;

TEST(DeviceReduction, GivesTheBitsOfTheCpu) {
  HostApi api;
  tests::DeviceSweep(api).expect_all();
}

// Calls fn(kernel name) for all that any reduction launches.
template <typename Fn>
void for_each_kernel(const Fn& fn) {
  for (int type = 0; type < dtype_count; ++type)
    for (int code = 0; code < ReduceOp::kind_count; ++code) {
      const auto dtype = static_cast<DType>(type);
      const auto kind = static_cast<Kind>(code);
      if (kind == Kind::custom || !reason_against(kind, dtype).empty()) continue;
      fn(device_fold(kind, dtype).few);
      fn(device_fold(kind, dtype).many);
      if (kind == Kind::premul_sum) fn(device_prepare(dtype).name);
      if (kind == Kind::avg) fn(device_finish(dtype).name);
    }
}

TEST(DeviceKernels, EveryReductionHasItsKernelsInTheImage) {
  const auto bytes = kernel_image();
  if (bytes.empty()) GTEST_SKIP() << "this build has no CUDA";
  const std::string_view image(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::set<std::string> names;
  for_each_kernel([&](const char* name) {
    ASSERT_NE(name, nullptr);
    names.insert(name);
  });
  for (const std::string& name : names) {
    // A string of the table of symbols, where machine code is not compressed.
    EXPECT_NE(image.find(std::string_view(name.c_str(), name.size() + 1)), std::string_view::npos) << name;
    EXPECT_TRUE(tests::host_kernels().contains(name)) << name;
  }
}

TEST(DeviceKernels, AreThoseOfTheCpusTable) {
  for (std::size_t lane = 0; lane < lane_count; ++lane)
    for (std::size_t combine = 0; combine < combine_count; ++combine)
      EXPECT_EQ(device_fold({static_cast<Lane>(lane), static_cast<Combine>(combine)}).few != nullptr,
                portable_kernels.fold[lane][combine] != nullptr)
          << "lane " << lane << ", combine " << combine;
}

TEST(DeviceKernels, HaveNamesThatTellWhatTheyDo) {
  EXPECT_STREQ(device_fold(Kind::sum, DType::complex64).few, "parley_fold_add_f32");
  EXPECT_STREQ(device_fold(Kind::sum, DType::i16).many, "parley_fold_many_add_u16");
  EXPECT_STREQ(device_fold(Kind::bxor, DType::i64).few, "parley_fold_bit_xor_u8");
  EXPECT_STREQ(device_fold(Kind::maxloc, DType::f64_i64).few, "parley_fold_maxloc_f64_i64");
  EXPECT_STREQ(device_prepare(DType::complex128).name, "parley_scale_multiply_complex128");
  EXPECT_STREQ(device_finish(DType::i32).name, "parley_scale_divide_i32");
}

template <typename Arguments>
Arguments arguments_of(const HostApi::Launched& launched) {
  Arguments arguments;
  EXPECT_EQ(launched.arguments.size(), sizeof(Arguments));
  std::memcpy(&arguments, launched.arguments.data(), sizeof(Arguments));
  return arguments;
}

// An address of no memory: nothing is run where this is used.
const std::byte* address(std::uintptr_t number) {
  return reinterpret_cast<const std::byte*>(number);
}
std::byte* result_at(std::uintptr_t number) {
  return reinterpret_cast<std::byte*>(number);
}

class Launches : public testing::Test {
 protected:
  Launches() { api_.runs = false; }
  // The launch of a fold.
  HostApi::Launched fold(Kind kind, DType dtype, std::uintptr_t to, const std::vector<const void*>& operands,
                         std::size_t count) {
    const auto stream = reinterpret_cast<cuda::Stream>(0x77);
    const DeviceReduction reduction(api_, kind, dtype);
    EXPECT_EQ(reduction.fold(result_at(to), operands, count, stream), Code::ok);
    EXPECT_EQ(api_.launches.size(), 1u);
    EXPECT_EQ(api_.launches.back().stream, stream);
    return api_.launches.back();
  }
  HostApi api_;
};

TEST_F(Launches, CarryTheOperandsInTheirOrder) {
  const auto launched = fold(Kind::sum, DType::f32, 0x1000, {address(0x3000), address(0x2000)}, 100);
  EXPECT_EQ(launched.name, "parley_fold_add_f32");
  const auto arguments = arguments_of<FewOperands>(launched);
  EXPECT_EQ(arguments.to, address(0x1000));
  EXPECT_EQ(arguments.operand_count, 2u);
  EXPECT_EQ(arguments.operands[0], address(0x3000));
  EXPECT_EQ(arguments.operands[1], address(0x2000));
  EXPECT_EQ(arguments.walk.vectors, 25u);
  EXPECT_EQ(arguments.walk.rest, 0u);
}

TEST_F(Launches, UseWholeVectorsWhereAllArraysAreEquallyFarFromOne) {
  const auto launched = fold(Kind::sum, DType::f16, 0x100a, {address(0x200a), address(0x30fa)}, 100);
  const device::Walk walk = arguments_of<FewOperands>(launched).walk;
  EXPECT_EQ(walk.head, 3u);
  EXPECT_EQ(walk.vectors, 12u);
  EXPECT_EQ(walk.rest, 4u);
  EXPECT_EQ(walk.is_aligned, 1u);
}

TEST_F(Launches, GoNumberByNumberWhereTheyAreNot) {
  const auto launched = fold(Kind::sum, DType::f32, 0x1004, {address(0x2008), address(0x3004)}, 100);
  const device::Walk walk = arguments_of<FewOperands>(launched).walk;
  EXPECT_EQ(walk.vectors, 0u);
  EXPECT_EQ(walk.rest, 100u);
  EXPECT_EQ(walk.is_aligned, 1u);
}

TEST_F(Launches, GoByteByByteWhereNumbersAreNotAligned) {
  const auto launched = fold(Kind::sum, DType::f32, 0x1001, {address(0x2001), address(0x3001)}, 100);
  EXPECT_EQ(arguments_of<FewOperands>(launched).walk.is_aligned, 0u);
}

TEST_F(Launches, TakeMoreThanEightOperandsInOnePassToo) {
  std::vector<const void*> operands;
  for (std::size_t i = 0; i < DeviceReduction::most_operands; ++i) operands.push_back(address(16 * (i + 1)));
  const auto launched = fold(Kind::sum, DType::bf16, 0x100000, operands, 100);
  EXPECT_EQ(launched.name, "parley_fold_many_add_bf16");
  const auto arguments = arguments_of<ManyOperands>(launched);
  EXPECT_EQ(arguments.operand_count, operands.size());
  EXPECT_THAT(arguments.operands, testing::ElementsAreArray(operands));
}

TEST_F(Launches, RefuseWhatNoKernelTakes) {
  const DeviceReduction reduction(api_, Kind::sum, DType::f32);
  const std::vector<const void*> operands(DeviceReduction::most_operands + 1, address(0x1000));
  EXPECT_EQ(reduction.fold(result_at(0x1000), operands, 1, nullptr), Code::invalid_value);
  EXPECT_EQ(reduction.fold(result_at(0x1000), {}, 1, nullptr), Code::invalid_value);
  EXPECT_TRUE(api_.launches.empty());
}

TEST_F(Launches, HaveAThreadForEachVectorUpToALimit) {
  const std::vector<const void*> operands = {address(0x1000), address(0x2000)};
  const DeviceReduction reduction(api_, Kind::sum, DType::f32);
  for (const std::size_t count : {std::size_t{1}, std::size_t{1024}, std::size_t{1028}, std::size_t{1} << 40})
    EXPECT_EQ(reduction.fold(result_at(0x3000), operands, count, nullptr), Code::ok);
  std::vector<std::uint32_t> blocks;
  for (const auto& launched : api_.launches) {
    blocks.push_back(launched.blocks);
    EXPECT_EQ(launched.threads, 256u);
  }
  EXPECT_EQ(blocks, (std::vector<std::uint32_t>{1, 1, 2, 1024}));
  EXPECT_EQ(arguments_of<FewOperands>(api_.launches.back()).walk.vectors, std::uint64_t{1} << 38);
}

TEST_F(Launches, AreNotMadeForNothing) {
  const std::vector<const void*> operands = {address(0x1000)};
  EXPECT_EQ(DeviceReduction(api_, Kind::sum, DType::f32).fold(result_at(0x3001), operands, 0, nullptr),
            Code::ok);
  EXPECT_TRUE(api_.launches.empty());
}

TEST_F(Launches, CarryTheFactor) {
  const DeviceReduction half(api_, ReduceOp::premul_sum(0.25), DType::f16);
  EXPECT_EQ(half.prepare(result_at(0x1000), address(0x2000), 9, nullptr), Code::ok);
  const auto arguments = arguments_of<device::ScaleArguments>(api_.launches.back());
  float factor = 0;
  std::memcpy(&factor, arguments.factor, sizeof(factor));
  EXPECT_EQ(factor, 0.25f);
  EXPECT_EQ(arguments.to, address(0x1000));
  EXPECT_EQ(arguments.from, address(0x2000));
  EXPECT_EQ(arguments.walk.vectors, 1u);
  EXPECT_EQ(arguments.walk.rest, 1u);
}

TEST(KernelImage, IsGivenToAnApiOnceWhoeverIsFirst) {
  if (kernel_image().empty()) GTEST_SKIP() << "this build has no CUDA";
  HostApi api;
  api.has_kernels = false;
  api.runs = false;
  const DeviceReduction reduction(api, Kind::sum, DType::f32);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const std::vector<const void*> operands = {address(0x1000)};
      for (int round = 0; round < 10; ++round)
        EXPECT_EQ(reduction.fold(result_at(0x1000), operands, 1, nullptr), Code::ok);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(api.images, 1);
  EXPECT_EQ(api.launches.size(), 40u);
}

TEST(KernelImage, LacksKernelsInABuildWithoutCuda) {
  if (!kernel_image().empty()) GTEST_SKIP() << "this build has CUDA";
  HostApi api;
  api.has_kernels = false;
  const std::vector<const void*> operands = {address(0x1000)};
  EXPECT_EQ(DeviceReduction(api, Kind::sum, DType::f32).fold(result_at(0x1000), operands, 1, nullptr),
            Code::not_found);
  EXPECT_EQ(api.images, 0);
}

std::string refusal(const ReduceOp& op, DType dtype) {
  HostApi api;
  try {
    const DeviceReduction reduction(api, op, dtype);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(DeviceReduction, RefusesWhatMakesNoSense) {
  EXPECT_EQ(refusal(Kind::min, DType::complex64), "min of complex64: complex numbers have no order");
  EXPECT_EQ(refusal(ReduceOp::premul_sum(0.5), DType::i32), "0.5 cannot be stored as i32");
  const auto function = [](void*, const void*, const void*, std::size_t, DType) {};
  EXPECT_EQ(refusal(ReduceOp::custom(function, true), DType::f32),
            "custom of f32 in the memory of a device: a function of the user runs on the CPU only");
}

TEST(DeviceReduction, PreparesAndFinishesWhereTheCpuDoes) {
  HostApi api;
  EXPECT_TRUE(DeviceReduction(api, Kind::avg, DType::i32).finishes());
  EXPECT_FALSE(DeviceReduction(api, Kind::avg, DType::i32).prepares());
  EXPECT_TRUE(DeviceReduction(api, ReduceOp::premul_sum(2), DType::i32).prepares());
  EXPECT_FALSE(DeviceReduction(api, Kind::sum, DType::i32).finishes());
}

}  // namespace
}  // namespace parley::tensor
