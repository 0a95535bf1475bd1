// What is combined, and in which order.
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "tests/unit/api/collectives/values.h"

namespace parley {
namespace {

using testing::fold;
using testing::given;
using testing::run_world;
using testing::tensor_of;
using testing::Values;
using testing::values_of;

TEST(Reductions, EveryOperatorCombinesAllRanks) {
  struct Row {
    ReduceOp op;
    std::function<double(double, double)> combine;
    double divisor = 1;
  };
  const auto integers = [](auto op) {
    return [op](double a, double b) {
      return static_cast<double>(op(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
    };
  };
  const std::vector<Row> rows{
      {ReduceOp::sum, std::plus<>()},
      {ReduceOp::product, std::multiplies<>()},
      {ReduceOp::min, [](double a, double b) { return std::min(a, b); }},
      {ReduceOp::max, [](double a, double b) { return std::max(a, b); }},
      {ReduceOp::band, integers(std::bit_and<>())},
      {ReduceOp::bor, integers(std::bit_or<>())},
      {ReduceOp::bxor, integers(std::bit_xor<>())},
      {ReduceOp::land, integers(std::logical_and<>())},
      {ReduceOp::lor, integers(std::logical_or<>())},
  };
  for (const int size : {2, 5})
    run_world(size, [&](ProcessGroup& group) {
      std::vector<Values> all;
      for (int rank = 0; rank < size; ++rank) all.push_back(given(rank, 33));
      for (const Row& row : rows) {
        const Tensor tensor = tensor_of(all[static_cast<std::size_t>(group.rank())], DType::i64);
        group.all_reduce(tensor, {.op = row.op});
        EXPECT_EQ(values_of(tensor), fold(all, row.combine)) << row.op;
      }
    });
}

TEST(Reductions, AvgDividesOnceAndAFactorMultipliesEachRanksElements) {
  run_world(4, [](ProcessGroup& group) {
    const Tensor average = Tensor::full(70'000, group.rank() + 1, DType::f64);
    group.all_reduce(average, {.op = ReduceOp::avg});
    EXPECT_EQ(values_of(average), Values(70'000, 2.5));

    const ReduceOp factor = ReduceOp::premul_sum(group.rank() + 1);
    const Tensor weighted = Tensor::ones(70'000);
    group.all_reduce(weighted, {.op = factor});
    EXPECT_EQ(values_of(weighted), Values(70'000, 10));

    std::vector<Tensor> apart;
    for (int i = 0; i < 4; ++i) apart.push_back(Tensor::full(3, i));
    const Tensor own = Tensor::zeros(3);
    group.reduce_scatter(own, apart, {.op = factor});
    EXPECT_EQ(values_of(own), Values(3, 10 * group.rank()));
    group.reduce_scatter(own, apart, {.op = ReduceOp::avg});
    EXPECT_EQ(values_of(own), Values(3, group.rank()));
  });
}

// x -> a x + b: composition does not commute. Modulo 2^32, as a pair of numbers.
struct Affine {
  std::uint32_t a, b;
};
void compose(void* result, const void* left, const void* right, std::size_t count, DType) {
  for (std::size_t i = 0; i < count; i += 2) {
    Affine l, r;
    std::memcpy(&l, static_cast<const std::uint32_t*>(left) + i, sizeof(l));
    std::memcpy(&r, static_cast<const std::uint32_t*>(right) + i, sizeof(r));
    const Affine both{r.a * l.a, r.a * l.b + r.b};
    std::memcpy(static_cast<std::uint32_t*>(result) + i, &both, sizeof(both));
  }
}

// A pair is one element, so that no schedule parts it: of 8 bytes, viewed as i64.
void compose_pairs(void* result, const void* left, const void* right, std::size_t count, DType dtype) {
  compose(result, left, right, 2 * count, dtype);
}

TEST(Reductions, AFunctionThatDoesNotCommuteIsAppliedInRankOrder) {
  const ReduceOp op = ReduceOp::custom(compose_pairs, false);
  const auto value = [](int rank, std::size_t i) {
    const auto seed = static_cast<std::uint32_t>(rank * 1009) + static_cast<std::uint32_t>(i);
    return std::bit_cast<std::int64_t>(Affine{2 * seed + 3, 7 * seed + 1});
  };
  for (int size = 1; size <= 7; ++size)
    run_world(size, [&](ProcessGroup& group) {
      for (const std::size_t count : {1, 1000, 50'000})
        for (const Determinism determinism : {Determinism::same_bits, Determinism::rank_order}) {
          std::vector<std::int64_t> mine(count), expected(count), prefix(count);
          for (std::size_t i = 0; i < count; ++i) {
            mine[i] = prefix[i] = value(group.rank(), i);
            expected[i] = value(0, i);
            for (int rank = 1; rank < size; ++rank) {
              const std::int64_t next = value(rank, i);
              if (rank == group.rank()) compose(&prefix[i], &expected[i], &next, 2, DType::bytes);
              compose(&expected[i], &expected[i], &next, 2, DType::bytes);
            }
          }
          std::vector<std::int64_t> scanned = mine;
          group.scan(scanned, {.op = op, .determinism = determinism});
          EXPECT_EQ(scanned, prefix) << size << " ranks, " << count;
          group.all_reduce(mine, {.op = op, .determinism = determinism});
          EXPECT_EQ(mine, expected) << size << " ranks, " << count;
        }
    });
}

TEST(Reductions, InRankOrderHalvesAreRoundedOnce) {
  // 2048 + 1 + 1 is 2048 when every step is rounded to f16, and 2050 when only the last one is.
  for (const DType dtype : {DType::f16, DType::bf16})
    run_world(5, [dtype](ProcessGroup& group) {
      const double large = dtype == DType::f16 ? 2048 : 256;
      for (const std::size_t count : {1, 7, 20'000}) {
        Values own(count, group.rank() == 0 ? large : group.rank() < 3 ? 1 : 0);
        const Tensor tensor = Tensor::full(static_cast<std::int64_t>(count), own.front(), dtype);
        group.all_reduce(tensor, {.determinism = Determinism::rank_order});
        EXPECT_EQ(values_of(tensor), Values(count, large + 2));
      }
    });
}

TEST(Reductions, AllRanksHaveTheSameBits) {
  for (int size = 2; size <= 7; ++size)
    run_world(size, [](ProcessGroup& group) {
      for (const std::size_t count : {1, 3, 999, 60'000})
        for (const Determinism determinism : {Determinism::same_bits, Determinism::rank_order}) {
          std::vector<float> own(count);
          for (std::size_t i = 0; i < count; ++i)
            own[i] = 1.0F / static_cast<float>(1 + i * 7 + static_cast<std::size_t>(group.rank()) * 13);
          group.all_reduce(own, {.determinism = determinism});
          std::vector<float> first = own;
          group.broadcast(first, 0);
          EXPECT_EQ(std::memcmp(own.data(), first.data(), count * sizeof(float)), 0);
        }
    });
}

}  // namespace
}  // namespace parley
