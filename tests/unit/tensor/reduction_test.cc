#include <gtest/gtest.h>
#include <parley/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tensor/reduce/reduction.h"
#include "tests/unit/tensor/reduce_reference.h"

namespace parley::tensor {
namespace {

using tests::Bytes;
using Kind = ReduceOp::Kind;

constexpr std::size_t most_operands = 9;

// Calls fn(dtype) for all types, fn(kind) for all reductions that are functions of two numbers.
template <typename Fn>
void for_each_dtype(const Fn& fn) {
  for (int code = 0; code < dtype_count; ++code) fn(static_cast<DType>(code));
}
template <typename Fn>
void for_each_fold(DType dtype, const Fn& fn) {
  for (const Kind kind : {Kind::sum, Kind::product, Kind::min, Kind::max, Kind::band, Kind::bor, Kind::bxor,
                          Kind::land, Kind::lor, Kind::minloc, Kind::maxloc})
    if (reason_against(kind, dtype).empty()) fn(kind);
}

// Memory at a chosen distance from an aligned address, with a guard on both sides.
class Place {
 public:
  Place(std::size_t bytes, std::size_t offset)
      : bytes_(bytes), start_(guard + offset), memory_((start_ + bytes + guard) / 64 + 1) {
    std::memset(memory_.data(), 0xa5, memory_.size() * 64);
  }
  std::byte* data() { return reinterpret_cast<std::byte*>(memory_.data()) + start_; }
  void set(const Bytes& bytes) {
    if (!bytes.empty()) std::memcpy(data(), bytes.data(), bytes.size());
  }
  [[nodiscard]] Bytes get() { return {data(), data() + bytes_}; }
  [[nodiscard]] bool is_guarded() {
    const auto untouched = [](std::byte byte) { return byte == std::byte{0xa5}; };
    return std::all_of(data() - guard, data(), untouched) &&
           std::all_of(data() + bytes_, data() + bytes_ + guard, untouched);
  }

 private:
  static constexpr std::size_t guard = 64;
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::size_t bytes_;
  std::size_t start_;
  std::vector<Line> memory_;
};

class EachIsa : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    kernels_ = kernels_of(GetParam());
    if (kernels_ == nullptr) GTEST_SKIP() << "this machine has no " << name(GetParam());
  }

  // Folds into a place of its own, or into that of the operand with the number `in_place`.
  void expect_fold(Kind kind, DType dtype, std::span<const Bytes> inputs, std::size_t offset,
                   std::size_t in_place) {
    const std::size_t bytes = inputs[0].size();
    std::vector<Place> places;
    std::vector<const void*> operands;
    for (const Bytes& input : inputs) places.emplace_back(bytes, offset * (places.size() % 2)).set(input);
    for (Place& place : places) operands.push_back(place.data());
    Place elsewhere(bytes, offset);
    Place& to = in_place < places.size() ? places[in_place] : elsewhere;
    Reduction(kind, dtype, *kernels_).fold(to.data(), operands, bytes / size_of(dtype));
    ASSERT_EQ(to.get(), tests::reference_fold(kind, dtype, inputs))
        << name(kind) << " of " << inputs.size() << " x " << bytes / size_of(dtype) << ' ' << dtype
        << ", offset " << offset << ", in place of " << in_place;
    ASSERT_TRUE(to.is_guarded()) << name(kind) << ' ' << dtype;
  }

  const Kernels* kernels_ = nullptr;
};

std::vector<Bytes> operands_of(DType dtype, std::size_t count, std::size_t operand_count) {
  std::vector<Bytes> operands;
  for (std::size_t i = 0; i < operand_count; ++i)
    operands.push_back(tests::some_elements(dtype, count, 100 * count + i + 1));
  return operands;
}

TEST_P(EachIsa, FoldsAnyCountOfAnyTypeAsTheReferenceDoes) {
  for_each_dtype([&](DType dtype) {
    for (const std::size_t count : {0, 1, 2, 3, 5, 8, 15, 16, 17, 31, 63, 64, 65, 127, 300, 1025}) {
      const std::vector<Bytes> operands = operands_of(dtype, count, 2);
      for_each_fold(dtype, [&](Kind kind) { expect_fold(kind, dtype, operands, 0, 2); });
    }
  });
}

TEST_P(EachIsa, FoldsManyOperandsInOnePass) {
  for_each_dtype([&](DType dtype) {
    const std::vector<Bytes> operands = operands_of(dtype, 700, most_operands);
    for (std::size_t operand_count = 1; operand_count <= most_operands; ++operand_count)
      for_each_fold(dtype, [&](Kind kind) {
        if (operand_count > 1 || kind == Kind::sum)
          expect_fold(kind, dtype, std::span(operands).first(operand_count), 0, operand_count);
      });
  });
}

TEST_P(EachIsa, FoldsUnalignedMemoryAndIntoAnyOperand) {
  for_each_dtype([&](DType dtype) {
    for (const std::size_t count : {3, 65, 700}) {
      const std::vector<Bytes> operands = operands_of(dtype, count, 4);
      for (const std::size_t offset : {1, 4, 16, 31, 48})
        for (const std::size_t in_place : {0, 2, 3})
          for_each_fold(dtype, [&](Kind kind) { expect_fold(kind, dtype, operands, offset, in_place); });
    }
  });
}

template <typename T>
Bytes bytes_of(std::vector<T> values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <typename T>
std::vector<T> values_of(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <typename T>
std::vector<T> finished(const Kernels& kernels, const std::vector<T>& values, std::int64_t ranks) {
  const Reduction reduction(Kind::avg, dtype_of<T>, kernels);
  EXPECT_TRUE(reduction.finishes());
  Place place(values.size() * sizeof(T), 1);
  place.set(bytes_of(values));
  reduction.finish(place.data(), values.size(), ranks);
  EXPECT_TRUE(place.is_guarded());
  return values_of<T>(place.get());
}

template <typename T>
void expect_integer_averages(const Kernels& kernels) {
  using Limits = std::numeric_limits<T>;
  const std::vector<T> sums = {
      0,  1,   7,   Limits::max(),    Limits::min(), static_cast<T>(-7), static_cast<T>(-1),
      99, 100, 101, Limits::max() - 1};
  for (const std::int64_t ranks : {1, 2, 3, 7, 100, 1000, 2147483647}) {
    std::vector<T> expected;
    for (const T sum : sums) expected.push_back(static_cast<T>(static_cast<std::int64_t>(sum) / ranks));
    EXPECT_EQ(finished(kernels, sums, ranks), expected) << dtype_of<T> << " / " << ranks;
  }
}

TEST_P(EachIsa, AveragesOfIntegersGoTowardsZero) {
  expect_integer_averages<std::uint8_t>(*kernels_);
  expect_integer_averages<std::int8_t>(*kernels_);
  expect_integer_averages<std::int16_t>(*kernels_);
  expect_integer_averages<std::int32_t>(*kernels_);
  expect_integer_averages<std::int64_t>(*kernels_);
}

// Exact for all numbers here, so that one rounding of the quotient is all there is.
template <typename T>
void expect_real_averages(const Kernels& kernels) {
  std::vector<T> sums;
  std::vector<double> expected;
  for (int i = -40; i <= 40; ++i) sums.push_back(static_cast<T>(static_cast<float>(i)));
  for (int i = -40; i <= 40; ++i) {
    using Wide = std::conditional_t<sizeof(T) == 8, double, float>;
    expected.push_back(static_cast<double>(static_cast<T>(static_cast<Wide>(i) / 3)));
  }
  const std::vector<T> averages = finished(kernels, sums, 3);
  for (std::size_t i = 0; i < sums.size(); ++i)
    EXPECT_EQ(static_cast<double>(averages[i]), expected[i]) << dtype_of<T> << ' ' << i;
}

TEST_P(EachIsa, AveragesOfFloatingPointNumbersAreRoundedOnce) {
  expect_real_averages<float16>(*kernels_);
  expect_real_averages<bfloat16>(*kernels_);
  expect_real_averages<float>(*kernels_);
  expect_real_averages<double>(*kernels_);
  const std::vector<std::complex<float>> sums = {{3, -6}, {1, 9}, {0, 2}};
  EXPECT_EQ(finished(*kernels_, sums, 4),
            (std::vector<std::complex<float>>{{0.75, -1.5}, {0.25, 2.25}, {0, 0.5}}));
}

template <typename T>
std::vector<T> prepared(const Kernels& kernels, const std::vector<T>& values, const Scalar& factor) {
  const Reduction reduction(ReduceOp::premul_sum(factor), dtype_of<T>, kernels);
  EXPECT_TRUE(reduction.prepares());
  EXPECT_FALSE(reduction.finishes());
  Place from(values.size() * sizeof(T), 3);
  Place to(values.size() * sizeof(T), 1);
  from.set(bytes_of(values));
  reduction.prepare(to.data(), from.data(), values.size());
  EXPECT_TRUE(to.is_guarded());
  return values_of<T>(to.get());
}

TEST_P(EachIsa, InputsAreMultipliedByTheFactor) {
  std::vector<float> singles;
  std::vector<float16> halves;
  std::vector<float> expected;
  for (int i = 0; i < 77; ++i) {
    singles.push_back(static_cast<float>(i));
    halves.emplace_back(static_cast<float>(i));
    expected.push_back(static_cast<float>(i) * 0.1f);
  }
  EXPECT_EQ(prepared(*kernels_, singles, 0.1), expected);
  // The factor is a float, not a float16.
  const std::vector<float16> scaled = prepared(*kernels_, halves, 0.1);
  for (std::size_t i = 0; i < scaled.size(); ++i)
    EXPECT_EQ(scaled[i].bits(), float16(expected[i]).bits()) << i;
  EXPECT_EQ(prepared<std::int8_t>(*kernels_, {1, -2, 100}, 3), (std::vector<std::int8_t>{3, -6, 44}));
  using Complex = std::complex<double>;
  EXPECT_EQ(prepared<Complex>(*kernels_, {{1, 2}, {0, -1}}, Complex(0, 2)),
            (std::vector<Complex>{{-4, 2}, {2, 0}}));
}

INSTANTIATE_TEST_SUITE_P(Isa, EachIsa, testing::Values(Isa::portable, Isa::avx2, Isa::avx512),
                         [](const auto& isa) { return std::string(name(isa.param)); });

template <typename T>
T folded(const ReduceOp& op, const std::vector<T>& values) {
  std::vector<const void*> operands;
  for (const T& value : values) operands.push_back(&value);
  T result;
  Reduction(op, dtype_of<T>).fold(&result, operands, 1);
  return result;
}

TEST(Reduction, SixteenBitSumsAreRoundedOnce) {
  // Each half more is lost when it meets 2048 alone.
  EXPECT_EQ(folded<float16>(Kind::sum, {float16(2048), float16(0.5f), float16(0.5f), float16(1)}),
            float16(2050));
  EXPECT_EQ(folded<bfloat16>(Kind::sum, {bfloat16(256), bfloat16(0.5f), bfloat16(0.5f), bfloat16(1)}),
            bfloat16(258));
  // A sum that goes beyond the largest float16 and comes back.
  EXPECT_EQ(folded<float16>(Kind::sum, {float16(60000), float16(60000), float16(-60000)}), float16(60000));
}

TEST(Reduction, MinimumAndMaximumDoNotDependOnTheOrder) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const bool swapped : {false, true}) {
    const auto pair = [swapped](double a, double b) {
      return swapped ? std::vector{b, a} : std::vector{a, b};
    };
    EXPECT_TRUE(std::signbit(folded<double>(Kind::min, pair(0.0, -0.0))));
    EXPECT_FALSE(std::signbit(folded<double>(Kind::max, pair(0.0, -0.0))));
    EXPECT_TRUE(std::isnan(folded<double>(Kind::min, pair(1, nan))));
    EXPECT_TRUE(std::isnan(folded<double>(Kind::max, pair(1, nan))));
  }
}

TEST(Reduction, NansComeOutWithoutTheirPayload) {
  const float odd = std::bit_cast<float>(0xff812345u);
  for (const Kind kind : {Kind::sum, Kind::product, Kind::min, Kind::max})
    EXPECT_EQ(std::bit_cast<std::uint32_t>(folded<float>(kind, {1, odd})), 0x7fc00000u) << name(kind);
  EXPECT_EQ(folded<float16>(Kind::sum, {float16(1), float16::from_bits(0xfe01)}).bits(), 0x7e00);
  EXPECT_EQ(folded<bfloat16>(Kind::sum, {bfloat16(1), bfloat16::from_bits(0xffff)}).bits(), 0x7fc0);
}

TEST(Reduction, OfEqualValuesTheLowestIndexIsTheLocation) {
  using Pair = ValueIndex<float, std::int32_t>;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(folded<Pair>(Kind::minloc, {{3, 0}, {1, 7}, {1, 2}, {1, 5}}), (Pair{1, 2}));
  EXPECT_EQ(folded<Pair>(Kind::maxloc, {{3, 4}, {1, 7}, {3, 2}}), (Pair{3, 2}));
  EXPECT_EQ(folded<Pair>(Kind::maxloc, {{-0.0f, 4}, {0.0f, 5}}), (Pair{-0.0f, 4}));
  const Pair lost = folded<Pair>(Kind::minloc, {{3, 0}, {nan, 7}, {-1, 2}, {nan, 5}});
  EXPECT_TRUE(std::isnan(lost.value));
  EXPECT_EQ(lost.index, 5);
}

TEST(Reduction, AnyByteButZeroIsTrue) {
  const std::byte two{2};
  const std::byte four{4};
  for (const Kind kind : {Kind::land, Kind::lor, Kind::sum, Kind::product, Kind::max}) {
    std::byte result{};
    Reduction(kind, DType::boolean).fold(&result, std::vector<const void*>{&two, &four}, 1);
    EXPECT_EQ(result, std::byte{1}) << name(kind);
  }
}

// left * 10 + right: shows the order.
void append_digit(void* result, const void* left, const void* right, std::size_t count, DType dtype) {
  ASSERT_EQ(dtype, DType::i64);
  for (std::size_t i = 0; i < count; ++i)
    static_cast<std::int64_t*>(result)[i] =
        static_cast<const std::int64_t*>(left)[i] * 10 + static_cast<const std::int64_t*>(right)[i];
}

TEST(Reduction, AFunctionOfTheUserIsFoldedFromTheLeftIntoAnyOperand) {
  constexpr std::size_t count = 1500;  // several pieces
  const Reduction reduction(ReduceOp::custom(append_digit, false), DType::i64);
  for (std::size_t operand_count = 1; operand_count <= 5; ++operand_count) {
    for (std::size_t in_place = 0; in_place < operand_count; ++in_place) {
      std::vector<std::vector<std::int64_t>> inputs;
      std::vector<const void*> operands;
      std::int64_t expected = 0;
      for (std::size_t i = 0; i < operand_count; ++i) {
        inputs.emplace_back(count, static_cast<std::int64_t>(i + 1));
        expected = expected * 10 + static_cast<std::int64_t>(i + 1);
      }
      for (const auto& input : inputs) operands.push_back(input.data());
      reduction.fold(inputs[in_place].data(), operands, count);
      EXPECT_EQ(inputs[in_place], std::vector<std::int64_t>(count, expected))
          << operand_count << ' ' << in_place;
    }
  }
}

TEST(Reduction, AFunctionIsNotCalledForNothing) {
  int calls = 0;
  const auto count_calls = [&](void*, const void*, const void*, std::size_t, DType) { ++calls; };
  const Reduction reduction(ReduceOp::custom(count_calls, true), DType::f8_e4m3);
  reduction.fold(nullptr, std::vector<const void*>{nullptr, nullptr}, 0);
  reduction.fold(nullptr, std::vector<const void*>{nullptr, nullptr, nullptr}, 0);
  EXPECT_EQ(calls, 0);
}

std::string refusal(const ReduceOp& op, DType dtype) {
  try {
    const Reduction reduction(op, dtype);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Reduction, RefusesWhatMakesNoSense) {
  EXPECT_EQ(refusal(Kind::min, DType::complex64), "min of complex64: complex numbers have no order");
  EXPECT_EQ(refusal(Kind::band, DType::f16),
            "band of f16: bitwise and logical operations take integers and bool");
  EXPECT_EQ(refusal(ReduceOp::premul_sum(0.5), DType::i32), "0.5 cannot be stored as i32");
  for_each_dtype([](DType dtype) {
    for (int code = 0; code < ReduceOp::kind_count; ++code) {
      const auto kind = static_cast<Kind>(code);
      if (kind == Kind::premul_sum || kind == Kind::custom) continue;
      EXPECT_EQ(refusal(kind, dtype).empty(), reason_against(kind, dtype).empty())
          << name(kind) << ' ' << dtype;
    }
  });
}

}  // namespace
}  // namespace parley::tensor
