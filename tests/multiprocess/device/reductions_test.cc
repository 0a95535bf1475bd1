// all_reduce on devices, of every type by every operation, against reductions on the CPU.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tensor/reduce/reduction.h"
#include "tests/multiprocess/device/device_rank.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/unit/tensor/reduce_reference.h"

namespace parley::testing {
namespace {

using Bytes = std::vector<std::byte>;
using Kind = ReduceOp::Kind;

ReduceOp operation(Kind kind) {
  return kind == Kind::premul_sum ? ReduceOp::premul_sum(2) : ReduceOp(kind);
}

bool is_pair(DType dtype) {
  return dtype == DType::f32_i32 || dtype == DType::f64_i64 || dtype == DType::i32_i32 ||
         dtype == DType::i64_i64;
}

// Elements whose combinations are exact in every type, so that their order does not matter.
Bytes exact_elements(DType dtype, std::size_t count, int rank) {
  if (is_pair(dtype)) return tests::some_elements(dtype, count, static_cast<std::uint64_t>(rank) + 1);
  const Tensor tensor = Tensor::empty({static_cast<std::int64_t>(count)}, dtype);
  constexpr std::int64_t stripes = 7;
  const auto width = static_cast<std::int64_t>(count) / stripes + 1;
  for (std::int64_t start = 0; start < static_cast<std::int64_t>(count); start += width)
    tensor.narrow(0, start, std::min(width, static_cast<std::int64_t>(count) - start))
        .fill((start / width + rank) % (dtype == DType::boolean ? 2 : 4));
  return {tensor.data(), tensor.data() + tensor.bytes()};
}

Bytes reduced_by_cpu(const ReduceOp& op, DType dtype, std::vector<Bytes> of_ranks) {
  const tensor::Reduction reduction(op, dtype);
  const std::size_t count = of_ranks[0].size() / size_of(dtype);
  std::vector<const void*> operands;
  for (Bytes& elements : of_ranks) {
    if (reduction.prepares()) reduction.prepare(elements.data(), elements.data(), count);
    operands.push_back(elements.data());
  }
  Bytes result(of_ranks[0].size());
  reduction.fold(result.data(), operands, count);
  if (reduction.finishes())
    reduction.finish(result.data(), count, static_cast<std::int64_t>(of_ranks.size()));
  return result;
}

struct Case {
  Kind kind;
  DType dtype;
  std::size_t count;
  Determinism determinism;
};

// In rank order any elements have one result; else it is theirs alone that do not mind the order.
Bytes elements_of(const Case& given, int rank) {
  if (given.determinism == Determinism::same_bits) return exact_elements(given.dtype, given.count, rank);
  return tests::some_elements(given.dtype, given.count, 100 * given.count + static_cast<std::uint64_t>(rank));
}

void expect_reduced(ProcessGroup& world, DeviceRank& device, const Case& given) {
  std::vector<Bytes> of_ranks;
  for (int rank = 0; rank < world.size(); ++rank) of_ranks.push_back(elements_of(given, rank));
  const Bytes mine = of_ranks[static_cast<std::size_t>(world.rank())];
  const DeviceBuffer buffer(device, mine.size());
  buffer.upload(mine);
  const ReduceOp op = operation(given.kind);
  world.all_reduce(Tensor::from_blob(buffer.data(), {static_cast<std::int64_t>(given.count)}, given.dtype, {},
                                     Device{Device::cuda, 0}),
                   {.op = op, .determinism = given.determinism});
  expect(buffer.download(mine.size()) == reduced_by_cpu(op, given.dtype, std::move(of_ranks)),
         std::string(name(given.kind)) + " of " + std::to_string(given.count) + " " +
             std::string(name(given.dtype)) +
             (given.determinism == Determinism::rank_order ? ", in rank order" : ""));
}

void reduce_everything(int, int) {
  DeviceRank device;
  ProcessGroup world = init();
  const std::size_t many = DeviceRank::is_real() ? 1'000'003 : 20'011;
  for (int code = 0; code < dtype_count; ++code)
    for (int number = 0; number < ReduceOp::kind_count; ++number) {
      const auto dtype = static_cast<DType>(code);
      const auto kind = static_cast<Kind>(number);
      if (kind == Kind::custom || !reason_against(kind, dtype).empty()) continue;
      for (const std::size_t count : {1, 33, 1000})
        expect_reduced(world, device, {kind, dtype, count, Determinism::rank_order});
      for (const std::size_t count : {std::size_t{5}, many})
        expect_reduced(world, device, {kind, dtype, count, Determinism::same_bits});
    }
  world.barrier();
  destroy();
}

TEST(DeviceReductions, OfTwoRanks) {
  EXPECT_EQ(run_ranks(2, reduce_everything, {.timeout = std::chrono::seconds(180)}), 0);
}

TEST(DeviceReductions, OfFourRanks) {
  EXPECT_EQ(run_ranks(4, reduce_everything, {.timeout = std::chrono::seconds(180)}), 0);
}

}  // namespace
}  // namespace parley::testing
