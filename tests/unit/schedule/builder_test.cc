#include "api/schedule/builder.h"

#include <gtest/gtest.h>

#include <vector>

namespace parley::schedule {
namespace {

constexpr Shape pair{.rank = 0, .size = 2, .count = 10};

std::vector<std::uint32_t> successors(const Schedule& schedule, std::uint32_t step) {
  const Step& one = schedule.steps[step];
  const auto first = schedule.successors.begin() + one.first_successor;
  return {first, first + one.successor_count};
}

using Steps = std::vector<std::uint32_t>;

TEST(Builder, AReadWaitsForTheWriteBeforeIt) {
  Builder builder(Operation::all_reduce, pair);
  const std::uint32_t receive = builder.receive(1, builder.output());
  const std::uint32_t send = builder.send(1, builder.output().part(9, 1));
  const Schedule schedule = builder.finish();
  EXPECT_EQ(successors(schedule, receive), Steps{send});
  EXPECT_EQ(schedule.steps[send].blockers, 1U);
}

TEST(Builder, AWriteWaitsForTheReadsBeforeItAndNotForTheirWrite) {
  Builder builder(Operation::all_reduce, pair);
  const std::uint32_t receive = builder.receive(1, builder.output());
  const std::uint32_t send = builder.send(1, builder.output());
  const std::uint32_t copy = builder.copy(builder.input(), builder.output());
  const Schedule schedule = builder.finish();
  EXPECT_EQ(successors(schedule, receive), Steps{send});
  EXPECT_EQ(successors(schedule, send), Steps{copy});
}

TEST(Builder, AWriteWaitsForTheWriteBeforeIt) {
  Builder builder(Operation::all_reduce, pair);
  const std::uint32_t first = builder.copy(builder.input(), builder.output());
  const std::uint32_t second = builder.receive(1, builder.output().part(3, 4));
  EXPECT_EQ(successors(builder.finish(), first), Steps{second});
}

TEST(Builder, ReadsAndDistinctElementsDoNotWait) {
  Builder builder(Operation::all_reduce, pair);
  builder.send(1, builder.input());
  builder.send(1, builder.input());
  builder.receive(1, builder.output().part(0, 5));
  builder.receive(1, builder.output().part(5, 5));
  EXPECT_TRUE(builder.finish().successors.empty());
}

TEST(Builder, ALaneIsTheTransfersOfOneKindWithOnePeer) {
  Builder builder(Operation::all_reduce, {.rank = 0, .size = 3, .count = 10});
  const std::uint32_t first = builder.send(1, builder.input());
  builder.send(2, builder.input());
  builder.receive(1, builder.output());
  const std::uint32_t second = builder.send(1, builder.input());
  const Schedule schedule = builder.finish();
  EXPECT_EQ(schedule.steps[first].next_in_lane, second);
  EXPECT_EQ(schedule.steps[second].blockers, 1U);
  EXPECT_EQ(schedule.steps[second].next_in_lane, no_step);
}

TEST(Builder, LeavesOutWhatMovesNothing) {
  Builder builder(Operation::all_reduce, pair);
  const Slice nothing = builder.input().part(4, 0);
  EXPECT_EQ(builder.send(1, nothing), no_step);
  EXPECT_EQ(builder.receive(1, builder.output().part(4, 0)), no_step);
  EXPECT_EQ(builder.copy(nothing, builder.output().part(4, 0)), no_step);
  EXPECT_EQ(builder.reduce(builder.output().part(4, 0), {nothing, nothing}), no_step);
  EXPECT_TRUE(builder.finish().steps.empty());
}

TEST(Builder, ASignalIsATransferOfNothing) {
  Builder builder(Operation::barrier, {.rank = 0, .size = 2});
  const std::uint32_t came = builder.await(1);
  builder.order(came, builder.signal(1));
  const Schedule schedule = builder.finish();
  EXPECT_EQ(schedule.steps.size(), 2U);
  EXPECT_EQ(successors(schedule, came), Steps{1});
}

TEST(Builder, InPlaceACopyOfTheInputToItsPlaceIsLeftOut) {
  const Shape shape{.rank = 1, .size = 2, .count = 10, .in_place = true};
  Builder gather(Operation::all_gather, shape);
  EXPECT_EQ(gather.copy(gather.input(), gather.output().part(10, 10)), no_step);
  EXPECT_NE(gather.copy(gather.input(), gather.output().part(0, 10)), no_step);
  Builder scatter(Operation::reduce_scatter, shape);
  EXPECT_EQ(scatter.copy(scatter.input().part(10, 10), scatter.output()), no_step);
}

TEST(Builder, InPlaceAWriteWaitsForReadsOfTheInput) {
  Builder builder(Operation::all_reduce, {.rank = 0, .size = 2, .count = 10, .in_place = true});
  const std::uint32_t send = builder.send(1, builder.input());
  const std::uint32_t receive = builder.receive(1, builder.output());
  EXPECT_EQ(successors(builder.finish(), send), Steps{receive});
}

TEST(Builder, AReductionOfOneOperandIsACopy) {
  Builder builder(Operation::all_reduce, pair);
  builder.reduce(builder.output(), {builder.input()});
  EXPECT_EQ(builder.finish().steps.at(0).kind, StepKind::copy);
}

TEST(Builder, AReductionMayWriteOneOfItsOperands) {
  Builder builder(Operation::all_reduce, pair);
  const Slice received = builder.scratch(10);
  const std::uint32_t receive = builder.receive(1, received);
  const std::uint32_t reduce = builder.reduce(received, {received, builder.input()});
  const Schedule schedule = builder.finish();
  EXPECT_EQ(successors(schedule, receive), Steps{reduce});
  EXPECT_TRUE(successors(schedule, reduce).empty());
  EXPECT_EQ(schedule.operands, (std::vector<Slice>{received, Slice{Space::input, 0, 10}}));
  EXPECT_EQ(schedule.scratch_count, 10U);
}

}  // namespace
}  // namespace parley::schedule
