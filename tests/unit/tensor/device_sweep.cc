#include "tests/unit/tensor/device_sweep.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tensor/reduce/cuda/device_reduction.h"
#include "tensor/reduce/reduction.h"

namespace parley::tests {
namespace {

using cuda::Code;
using tensor::DeviceReduction;
using tensor::Reduction;
using Kind = ReduceOp::Kind;

constexpr Kind folds[] = {Kind::sum,  Kind::product, Kind::min, Kind::max,    Kind::band,  Kind::bor,
                          Kind::bxor, Kind::land,    Kind::lor, Kind::minloc, Kind::maxloc};

// Where arrays of one size start in a memory, with space around each.
std::size_t start_of(std::size_t index, std::size_t bytes, std::size_t offset) {
  return index * ((bytes + 767) / 256 * 256) + 256 + offset;
}
Bytes memory_of(std::size_t arrays, std::size_t bytes) {
  return Bytes(start_of(arrays, bytes, 0), std::byte{0xa5});
}
void lay(Bytes& memory, std::size_t at, const Bytes& elements) {
  if (!elements.empty()) std::memcpy(memory.data() + at, elements.data(), elements.size());
}

Scalar some_factor(DType dtype) {
  if (tensor::is_complex(dtype)) return std::complex<double>(0.5, -3);
  return tensor::is_floating_point(dtype) ? Scalar(0.1) : Scalar(3);
}

}  // namespace

template <typename Reduce>
Bytes DeviceSweep::reduced(const Bytes& memory, const Reduce& reduce) {
  Bytes result(memory.size());
  std::byte* there = nullptr;
  EXPECT_EQ(api_.allocate(memory.size(), there), Code::ok);
  EXPECT_EQ(api_.copy(there, memory.data(), memory.size(), cuda::default_stream), Code::ok);
  EXPECT_EQ(reduce(there), Code::ok);
  EXPECT_EQ(api_.copy(result.data(), there, memory.size(), cuda::default_stream), Code::ok);
  EXPECT_EQ(api_.synchronize(cuda::default_stream), Code::ok);
  EXPECT_EQ(api_.free(there), Code::ok);
  return result;
}

void DeviceSweep::expect_fold(Kind kind, DType dtype, const Fold& fold) {
  if (testing::Test::HasFatalFailure()) return;  // the first difference tells enough
  const std::size_t bytes = fold.count * size_of(dtype);
  Bytes memory = memory_of(fold.operand_count + 1, bytes);
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < fold.operand_count; ++i) {
    starts.push_back(start_of(i, bytes, i % 2 == 0 ? fold.offset : fold.other_offset));
    lay(memory, starts.back(), some_elements(dtype, fold.count, 1000 * fold.count + i));
  }
  const std::size_t to =
      fold.in_place ? starts[*fold.in_place] : start_of(fold.operand_count, bytes, fold.offset);
  const auto operands_in = [&](const std::byte* start) {
    std::vector<const void*> operands;
    for (const std::size_t at : starts) operands.push_back(start + at);
    return operands;
  };
  const DeviceReduction reduction(api_, kind, dtype);
  const Bytes result = reduced(memory, [&](std::byte* start) {
    return reduction.fold(start + to, operands_in(start), fold.count, cuda::default_stream);
  });
  Reduction(kind, dtype).fold(memory.data() + to, operands_in(memory.data()), fold.count);
  ASSERT_TRUE(result == memory) << name(kind) << " of " << fold.operand_count << " x " << fold.count << ' '
                                << dtype << ", offsets " << fold.offset << " and " << fold.other_offset
                                << (fold.in_place ? ", in place of " + std::to_string(*fold.in_place) : "");
}

void DeviceSweep::expect_prepare(DType dtype, std::size_t count, std::size_t from_offset,
                                 std::size_t to_offset) {
  if (testing::Test::HasFatalFailure()) return;  // the first difference tells enough
  const std::size_t bytes = count * size_of(dtype);
  Bytes memory = memory_of(2, bytes);
  const std::size_t from = start_of(0, bytes, from_offset);
  const std::size_t to = start_of(1, bytes, to_offset);
  lay(memory, from, some_elements(dtype, count, count));
  const ReduceOp op = ReduceOp::premul_sum(some_factor(dtype));
  const DeviceReduction reduction(api_, op, dtype);
  ASSERT_TRUE(reduction.prepares());
  const Bytes result = reduced(memory, [&](std::byte* start) {
    return reduction.prepare(start + to, start + from, count, cuda::default_stream);
  });
  Reduction(op, dtype).prepare(memory.data() + to, memory.data() + from, count);
  ASSERT_TRUE(result == memory) << "prepare " << count << ' ' << dtype << ", offsets " << from_offset
                                << " and " << to_offset;
}

void DeviceSweep::expect_finish(DType dtype, std::size_t count, std::size_t offset, std::int64_t ranks) {
  if (testing::Test::HasFatalFailure()) return;  // the first difference tells enough
  const std::size_t bytes = count * size_of(dtype);
  Bytes memory = memory_of(1, bytes);
  const std::size_t at = start_of(0, bytes, offset);
  lay(memory, at, some_elements(dtype, count, count));
  const DeviceReduction reduction(api_, Kind::avg, dtype);
  ASSERT_TRUE(reduction.finishes());
  const Bytes result = reduced(memory, [&](std::byte* start) {
    return reduction.finish(start + at, count, ranks, cuda::default_stream);
  });
  Reduction(Kind::avg, dtype).finish(memory.data() + at, count, ranks);
  ASSERT_TRUE(result == memory) << "finish " << count << ' ' << dtype << " / " << ranks << ", offset "
                                << offset;
}

void DeviceSweep::expect_all_folds(DType dtype) {
  const std::size_t size = size_of(dtype);
  for (const Kind kind : folds) {
    if (!reason_against(kind, dtype).empty()) continue;
    for (const std::size_t count : {0, 1, 2, 3, 7, 15, 16, 17, 33, 100, 1000})
      expect_fold(kind, dtype, {.count = count});
    for (const std::size_t offset : {std::size_t{1}, size, std::size_t{8}, std::size_t{15}})
      for (const std::size_t other : {offset, std::size_t{0}, std::size_t{4}})
        for (const auto in_place : std::initializer_list<std::optional<std::size_t>>{0, 1, {}})
          expect_fold(kind, dtype, {77, 3, offset, other, in_place});
    for (const std::size_t operand_count : {1, 4, 5, 8, 9, 40})
      expect_fold(kind, dtype, {70, operand_count, size % 16, size % 16, operand_count - 1});
    expect_fold(kind, dtype, {20, DeviceReduction::most_operands, 0, 0, 77});
  }
}

void DeviceSweep::expect_all_scales(DType dtype) {
  for (const std::size_t count : {0, 1, 5, 16, 39, 1000})
    for (const std::size_t offset : {std::size_t{0}, size_of(dtype), std::size_t{1}}) {
      if (reason_against(Kind::premul_sum, dtype).empty()) {
        expect_prepare(dtype, count, offset, offset);
        expect_prepare(dtype, count, 0, offset);
      }
      if (reason_against(Kind::avg, dtype).empty())
        for (const std::int64_t ranks : {1, 3, 7, 1000, 2147483647})
          expect_finish(dtype, count, offset, ranks);
    }
}

void DeviceSweep::expect_all() {
  ASSERT_EQ(scope_.code(), Code::ok) << api_.describe(scope_.code());
  for (int code = 0; code < dtype_count; ++code) {
    expect_all_folds(static_cast<DType>(code));
    expect_all_scales(static_cast<DType>(code));
  }
  // Threads that take several vectors, and several numbers of arrays that lie apart.
  expect_fold(Kind::sum, DType::f32, {.count = 1300007, .offset = 4, .other_offset = 4});
  expect_fold(Kind::sum, DType::bf16, {.count = 700001, .offset = 2, .other_offset = 0});
  expect_fold(Kind::max, DType::u8, {.count = 600001, .offset = 1, .other_offset = 3});
}

}  // namespace parley::tests
