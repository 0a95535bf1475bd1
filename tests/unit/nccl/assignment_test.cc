// Which of NCCL's functions do a collective, and with which arguments: NCCL's documentation says what they
// mean.
#include "api/nccl/assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/unit/nccl/recording_library.h"

namespace parley::nccl {
namespace {

using schedule::Operation;
using ::testing::ElementsAre;
using Lines = std::vector<std::string>;

constexpr int ranks = 3;

struct Case {
  Operation operation;
  int rank = 1;
  DType dtype = DType::f32;
  std::uint32_t root = 0;
  std::uint64_t count = 4;
  std::vector<std::uint64_t> counts = {};
  std::vector<std::uint64_t> receive_counts = {};
  std::optional<ReduceOp> op = std::nullopt;
  bool rank_order = false;
};

std::optional<Assignment> assignment_of(const Case& of) {
  collective::Call call;
  call.signature.operation = call.question.operation = of.operation;
  call.signature.dtype = of.dtype;
  call.question.root = of.root;
  call.question.count = of.counts.empty() ? of.count : 0;
  call.question.counts = of.counts;
  call.question.receive_counts = of.receive_counts;
  call.question.element_bytes = static_cast<std::uint32_t>(size_of(of.dtype));
  call.question.rank_order = of.rank_order;
  return assignment_for(call, of.op, of.rank, ranks);
}

// What is called between begin_group and end_group. `in_place`: the offset in the output at which the input
// is, negative: the other way round.
Lines calls_for(const Case& of, std::optional<std::ptrdiff_t> in_place = std::nullopt) {
  std::array<std::byte, 1024> in{}, out{};
  testing::RecordingLibrary library(in.data(), out.data(), in.size());
  const auto assignment = assignment_of(of);
  if (!assignment) return {"none"};
  std::byte* output = out.data();
  const std::byte* input = in.data();
  if (in_place && *in_place >= 0) input = out.data() + *in_place;
  if (in_place && *in_place < 0) output = in.data() - *in_place;
  EXPECT_EQ(enqueue(library, nullptr, *assignment, assignment->fold, input, output, nullptr),
            Result::success);
  EXPECT_EQ(library.calls.front(), "begin_group");
  EXPECT_EQ(library.calls.back(), "end_group");
  return {library.calls.begin() + 1, library.calls.end() - 1};
}

TEST(Assignment, OfReductions) {
  EXPECT_THAT(calls_for({.operation = Operation::all_reduce, .op = ReduceOp::sum}),
              ElementsAre("all_reduce(in, out, 4 f32, sum)"));
  EXPECT_THAT(calls_for({.operation = Operation::all_reduce, .op = ReduceOp::avg}, 0),
              ElementsAre("all_reduce(out, out, 4 f32, average)"));
  EXPECT_THAT(calls_for({.operation = Operation::reduce, .rank = 2, .root = 2, .op = ReduceOp::product}),
              ElementsAre("reduce(in, out, 4 f32, product, root 2)"));
  EXPECT_THAT(calls_for({.operation = Operation::reduce, .rank = 1, .root = 2, .op = ReduceOp::sum}),
              ElementsAre("reduce(in, null, 4 f32, sum, root 2)"));
  EXPECT_THAT(calls_for({.operation = Operation::reduce_scatter, .dtype = DType::i64, .op = ReduceOp::max}),
              ElementsAre("reduce_scatter(in, out, 4 i64, max)"));
  EXPECT_THAT(calls_for({.operation = Operation::reduce_scatter, .counts = {2, 0, 3}, .op = ReduceOp::sum}),
              ElementsAre("reduce(in, null, 2 f32, sum, root 0)", "reduce(in+8, null, 3 f32, sum, root 2)"));
}

TEST(Assignment, MovesElementsOfAnyTypeAsBytes) {
  EXPECT_THAT(calls_for({.operation = Operation::broadcast, .rank = 0, .dtype = DType::complex128}, 0),
              ElementsAre("broadcast(out, out, 64 u8, root 0)"));
  EXPECT_THAT(calls_for({.operation = Operation::broadcast, .rank = 2, .dtype = DType::boolean}, 0),
              ElementsAre("broadcast(out, out, 4 u8, root 0)"));
  EXPECT_THAT(calls_for({.operation = Operation::all_gather, .dtype = DType::i16}),
              ElementsAre("all_gather(in, out, 8 u8)"));
  EXPECT_THAT(calls_for({.operation = Operation::all_gather, .counts = {1, 0, 2}}),
              ElementsAre("broadcast(out, out, 4 u8, root 0)", "broadcast(out+4, out+4, 8 u8, root 2)"));
  EXPECT_THAT(calls_for({.operation = Operation::all_gather, .rank = 2, .counts = {1, 0, 2}}),
              ElementsAre("broadcast(out, out, 4 u8, root 0)", "broadcast(in, out+4, 8 u8, root 2)"));
}

TEST(Assignment, PutsTheOthersTogetherOfSendsAndReceives) {
  EXPECT_THAT(calls_for({.operation = Operation::scatter, .rank = 0}),
              ElementsAre("send(in, 16 u8, to 0)", "receive(out, 16 u8, from 0)", "send(in+16, 16 u8, to 1)",
                          "send(in+32, 16 u8, to 2)"));
  EXPECT_THAT(calls_for({.operation = Operation::scatter, .rank = 2}),
              ElementsAre("receive(out, 16 u8, from 0)"));
  EXPECT_THAT(calls_for({.operation = Operation::gather, .rank = 0}),
              ElementsAre("receive(out, 16 u8, from 0)", "send(in, 16 u8, to 0)",
                          "receive(out+16, 16 u8, from 1)", "receive(out+32, 16 u8, from 2)"));
  EXPECT_THAT(calls_for({.operation = Operation::gather, .rank = 1}), ElementsAre("send(in, 16 u8, to 0)"));
  EXPECT_THAT(
      calls_for({.operation = Operation::all_to_all, .dtype = DType::u8, .count = 2}),
      ElementsAre("send(in, 2 u8, to 0)", "receive(out, 2 u8, from 0)", "send(in+2, 2 u8, to 1)",
                  "receive(out+2, 2 u8, from 1)", "send(in+4, 2 u8, to 2)", "receive(out+4, 2 u8, from 2)"));
  EXPECT_THAT(calls_for({.operation = Operation::all_to_all,
                         .dtype = DType::u8,
                         .counts = {1, 2, 0},
                         .receive_counts = {0, 2, 3}}),
              ElementsAre("send(in, 1 u8, to 0)", "send(in+1, 2 u8, to 1)", "receive(out, 2 u8, from 1)",
                          "receive(out+2, 3 u8, from 2)"));
}

TEST(Assignment, LeavesTheRootsOwnBlockWhereItIs) {
  EXPECT_THAT(calls_for({.operation = Operation::scatter, .rank = 1, .root = 1}, -16),
              ElementsAre("send(in, 16 u8, to 0)", "send(in+32, 16 u8, to 2)"));
  EXPECT_THAT(calls_for({.operation = Operation::gather, .rank = 1, .root = 1}, 16),
              ElementsAre("receive(out, 16 u8, from 0)", "receive(out+32, 16 u8, from 2)"));
}

TEST(Assignment, UnevenBlocksOfWhichOneRankKnowsItsOwnOnly) {
  EXPECT_THAT(calls_for({.operation = Operation::gather, .rank = 2, .counts = {0, 0, 5}}),
              ElementsAre("send(in, 20 u8, to 0)"));
  EXPECT_THAT(calls_for({.operation = Operation::scatter, .rank = 2, .counts = {0, 0, 5}}),
              ElementsAre("receive(out, 20 u8, from 0)"));
  EXPECT_THAT(
      calls_for({.operation = Operation::gather, .rank = 0, .counts = {1, 0, 5}}),
      ElementsAre("receive(out, 4 u8, from 0)", "send(in, 4 u8, to 0)", "receive(out+4, 20 u8, from 2)"));
}

TEST(Assignment, IsNothingWhereNcclsResultWouldBeAnother) {
  const auto is_nccl = [](DType dtype, const ReduceOp& op) {
    return assignment_of({.operation = Operation::all_reduce, .dtype = dtype, .op = op}).has_value();
  };
  for (const DType dtype : {DType::i8, DType::u8, DType::i32, DType::i64}) {
    for (const auto kind : {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max})
      EXPECT_TRUE(is_nccl(dtype, kind)) << name(dtype) << ' ' << name(kind);
    for (const auto kind : {ReduceOp::avg, ReduceOp::band, ReduceOp::lor})
      EXPECT_FALSE(is_nccl(dtype, kind)) << name(dtype) << ' ' << name(kind);
    EXPECT_FALSE(is_nccl(dtype, ReduceOp::premul_sum(2)));
  }
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const auto kind : {ReduceOp::sum, ReduceOp::product, ReduceOp::avg})
      EXPECT_TRUE(is_nccl(dtype, kind)) << name(dtype) << ' ' << name(kind);
    for (const auto kind : {ReduceOp::min, ReduceOp::max})  // a NaN wins
      EXPECT_FALSE(is_nccl(dtype, kind)) << name(dtype) << ' ' << name(kind);
    // Its factor would be rounded.
    EXPECT_EQ(is_nccl(dtype, ReduceOp::premul_sum(2)), dtype == DType::f32 || dtype == DType::f64);
  }
  for (const DType dtype : {DType::boolean, DType::i16, DType::complex64, DType::f32_i32})
    EXPECT_FALSE(is_nccl(dtype, ReduceOp::sum)) << name(dtype);
  EXPECT_FALSE(is_nccl(DType::f32, ReduceOp::custom([](auto&&...) {}, true)));
  EXPECT_EQ(assignment_of({.operation = Operation::all_reduce, .op = ReduceOp::sum, .rank_order = true}),
            std::nullopt);
  for (const Operation operation : {Operation::scan, Operation::exscan, Operation::barrier})
    EXPECT_EQ(assignment_of({.operation = operation, .op = ReduceOp::sum}), std::nullopt);
}

TEST(Assignment, HasTheFactorInItsType) {
  const auto assignment = assignment_of(
      {.operation = Operation::all_reduce, .dtype = DType::f64, .op = ReduceOp::premul_sum(0.5)});
  ASSERT_TRUE(assignment && assignment->factor);
  double factor = 0;
  std::memcpy(&factor, assignment->factor->data(), sizeof(factor));
  EXPECT_EQ(factor, 0.5);
}

TEST(Assignment, NeedsACopyOfAnInputThatIsItsOutputToo) {
  const std::array<std::byte, 8> memory{};
  const std::span<const std::byte> all(memory), first = all.first(4), shifted = all.subspan(2, 4),
                                                second = all.last(4);
  const auto exchange = *assignment_of({.operation = Operation::all_to_all});
  EXPECT_TRUE(needs_own_input(exchange, all, all));
  EXPECT_FALSE(needs_own_input(exchange, first, second));
  EXPECT_FALSE(needs_own_input(exchange, {}, {}));
  const auto sum = *assignment_of({.operation = Operation::all_reduce, .op = ReduceOp::sum});
  EXPECT_FALSE(needs_own_input(sum, all, all));
  // With a factor our own path works on a copy, so that callers may have any overlap.
  const auto scaled = *assignment_of({.operation = Operation::reduce_scatter, .op = ReduceOp::premul_sum(2)});
  EXPECT_TRUE(needs_own_input(scaled, first, shifted));
  EXPECT_TRUE(needs_own_input(scaled, all, second));
  EXPECT_TRUE(needs_own_input(scaled, all, first));
  EXPECT_FALSE(needs_own_input(scaled, first, second));
  const auto reduced = *assignment_of({.operation = Operation::all_reduce, .op = ReduceOp::premul_sum(2)});
  EXPECT_FALSE(needs_own_input(reduced, all, all));
}

TEST(Assignment, EndsTheGroupAfterAFailureAndCallsNothingMore) {
  std::array<std::byte, 64> memory{};
  testing::RecordingLibrary library(memory.data(), memory.data(), memory.size());
  const auto exchange = *assignment_of({.operation = Operation::all_to_all, .dtype = DType::u8, .count = 1});
  library.next = Result::system_error;
  EXPECT_EQ(enqueue(library, nullptr, exchange, Fold::sum, memory.data(), memory.data() + 32, nullptr),
            Result::system_error);
  EXPECT_THAT(library.calls, ElementsAre("begin_group"));
}

}  // namespace
}  // namespace parley::nccl
