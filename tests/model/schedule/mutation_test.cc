// The proof notices what is wrong: schedules with one deliberate mistake.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/schedule/builder.h"
#include "tests/model/schedule/proof.h"
#include "tests/model/schedule/simulation.h"

namespace parley::schedule {
namespace {

constexpr Case doubling{Operation::all_reduce, Algorithm::recursive_doubling, 6, 0, 5};
constexpr Case ring{Operation::all_reduce, Algorithm::ring, 5, 0, 11};
constexpr Case chain{Operation::reduce, Algorithm::chain, 4, 1, 10, false, InPlace::everybody, 3};
// In several turns, so that what is shown is shown again.
constexpr Case flat{
    Operation::all_reduce, Algorithm::flat, 3, 0, 12, false, InPlace::nobody, 0, Placing::one_host, 3};
constexpr Case slices{
    Operation::all_reduce, Algorithm::slices, 3, 0, 12, false, InPlace::nobody, 0, Placing::one_host, 4};
constexpr Case lent{.algorithm = Algorithm::slices,
                    .size = 3,
                    .count = 12,
                    .in_place = InPlace::odd_ranks,
                    .stage_count = 4,
                    .has_loans = true};
constexpr Case lent_by_all{.algorithm = Algorithm::slices,
                           .size = 3,
                           .count = 12,
                           .in_place = InPlace::odd_ranks,
                           .stage_count = 4,
                           .has_loans = true,
                           .everyone_lends = true};
constexpr Case taken_whole{.operation = Operation::all_to_all,
                           .algorithm = Algorithm::flat,
                           .size = 4,
                           .count = 5,
                           .stage_count = 4,
                           .has_loans = true,
                           .everyone_lends = true};
constexpr Case lent_flat{
    Operation::all_to_all, Algorithm::flat, 3, 0, 4, false, InPlace::nobody, 0, Placing::one_host, 3, true};
// Both blocks that a rank shows, beside its mark.
constexpr Case lined{.operation = Operation::all_to_all,
                     .algorithm = Algorithm::flat,
                     .size = 3,
                     .count = 1,
                     .stage_count = 3,
                     .line_count = 3};
// In several turns, and the last of it where that fits beside a mark; root 1, where there is one.
constexpr Case in_turns(Operation operation) {
  return {.operation = operation,
          .algorithm = Algorithm::flat,
          .size = 3,
          .root = 1,
          .count = 5,
          .stage_count = 4};
}
// Hosts of two, and of three and two.
constexpr Case two_level{
    Operation::all_reduce, Algorithm::two_level, 6, 0, 12, false, InPlace::nobody, 0, Placing::in_turn, 6};
constexpr Case two_level_lent{.algorithm = Algorithm::two_level_sliced,
                              .size = 5,
                              .count = 12,
                              .in_place = InPlace::odd_ranks,
                              .placing = Placing::blocks,
                              .stage_count = 5,
                              .has_loans = true};
constexpr Case two_level_barrier{
    Operation::barrier, Algorithm::two_level, 9, 0, 0, false, InPlace::nobody, 0, Placing::in_turn, 9};
constexpr Case barrier{Operation::barrier, Algorithm::dissemination, 8};

// Calls use(step) for each step of a kind, of all ranks.
template <typename Use>
void for_each_step(std::vector<Schedule>& schedules, StepKind kind, Use use) {
  for (Schedule& schedule : schedules)
    for (Step& step : schedule.steps)
      if (step.kind == kind) use(schedule, step);
}

// The schedule without the `index`-th of its dependencies.
Schedule without_dependency(Schedule schedule, std::uint32_t index) {
  --schedule.steps[schedule.successors[index]].blockers;
  schedule.successors.erase(schedule.successors.begin() + index);
  for (Step& step : schedule.steps) {
    if (index < step.first_successor)
      --step.first_successor;
    else if (index < step.first_successor + step.successor_count)
      --step.successor_count;
  }
  return schedule;
}

TEST(ScheduleMutation, EveryDroppedDependencyIsFound) {
  for (const Case& one : {doubling, ring, chain}) {
    const Group group(one);
    const std::vector<Schedule> right = group.schedules();
    ASSERT_EQ(prove(group, right, 1), "") << describe(one);
    for (std::uint32_t rank = 0; rank < one.size; ++rank)
      for (std::uint32_t index = 0; index < right[rank].successors.size(); ++index) {
        std::vector<Schedule> wrong = right;
        wrong[rank] = without_dependency(right[rank], index);
        EXPECT_NE(prove(group, wrong, 1), "")
            << describe(one) << ", rank " << rank << ", dependency " << index;
      }
  }
}

// Whether a step comes after another one also without the `index`-th dependency.
bool is_ordered_without(const Schedule& schedule, std::uint32_t earlier, std::uint32_t later,
                        std::uint32_t index) {
  std::vector<bool> is_after(schedule.steps.size());
  is_after[earlier] = true;
  for (std::uint32_t i = earlier; i < later; ++i)
    for (std::uint32_t s = 0; is_after[i] && s < schedule.steps[i].successor_count; ++s)
      if (schedule.steps[i].first_successor + s != index)
        is_after[schedule.successors[schedule.steps[i].first_successor + s]] = true;
  return is_after[later];
}

// Drops each dependency that `matters`, of an earlier and a later step of a rank, and expects it to be
// missed. How many.
template <typename Matters>
int drop_each(const Case& one, Matters matters) {
  int dropped = 0;
  const Group group(one);
  const std::vector<Schedule> right = group.schedules();
  EXPECT_EQ(prove(group, right, 1), "") << describe(one);
  for (std::uint32_t rank = 0; rank < one.size; ++rank)
    for (std::uint32_t i = 0; i < right[rank].steps.size(); ++i)
      for (std::uint32_t s = 0; s < right[rank].steps[i].successor_count; ++s) {
        const std::uint32_t index = right[rank].steps[i].first_successor + s;
        const std::uint32_t later = right[rank].successors[index];
        if (!matters(right[rank], rank, right[rank].steps[i], right[rank].steps[later]) ||
            is_ordered_without(right[rank], i, later, index))
          continue;
        std::vector<Schedule> wrong = right;
        wrong[rank] = without_dependency(right[rank], index);
        bool is_found = false;
        for (std::uint32_t seed = 1; seed <= 200; ++seed)
          is_found = is_found || !prove(group, wrong, seed).empty();
        EXPECT_TRUE(is_found) << describe(one) << ", rank " << rank << ", step " << i << " before " << later;
        ++dropped;
      }
  return dropped;
}

// What is done in shared memory before others are told of it, or others have told of theirs. (An await also
// comes after our own mark, so that few are looked for at a time; nothing else hangs on that.)
TEST(ScheduleMutation, WhatDoesNotWaitForAMarkOrIsNotWaitedForByOneIsFound) {
  const auto matters = [](const Schedule&, std::uint32_t, const Step&, const Step& later) {
    return later.kind != StepKind::await;
  };
  int dropped = 0;
  for (const Case& one : {flat, slices, lent, lent_flat, lined}) dropped += drop_each(one, matters);
  EXPECT_GT(dropped, 50);
}

bool reads_anothers(const Schedule& schedule, std::uint32_t rank, const Step& step) {
  const auto is_anothers = [&](const Slice& slice) { return is_shared(slice.space) && slice.owner != rank; };
  const auto first = schedule.operands.begin() + step.first_operand;
  return is_anothers(step.from) || std::any_of(first, first + step.operand_count, is_anothers);
}

TEST(ScheduleMutation, ACopyThatNamesAnotherReaderIsFound) {
  int named = 0;
  for (const Case& one : {lent_flat, in_turns(Operation::scatter), in_turns(Operation::gather),
                          in_turns(Operation::reduce), in_turns(Operation::reduce_scatter)}) {
    const Group group(one);
    const std::vector<Schedule> right = group.schedules();
    for (std::uint32_t rank = 0; rank < one.size; ++rank)
      for (std::size_t i = 0; i < right[rank].steps.size(); ++i) {
        const Step& step = right[rank].steps[i];
        if (step.kind != StepKind::copy) continue;
        const bool is_shown = is_shared(step.to.space);
        EXPECT_TRUE(!is_shown || step.peer != everyone) << describe(one) << " names no reader";
        if (step.peer == everyone) continue;
        std::vector<Schedule> wrong = right;
        wrong[rank].steps[i].peer = (step.peer + 1) % one.size;
        EXPECT_NE(prove(group, wrong, 1), "") << describe(one) << ", rank " << rank << ", step " << i;
        ++named;
      }
  }
  EXPECT_GT(named, 12);
}

// Where everyone lends, what is folded is shown, and nothing else: no room is needed, and nothing is copied
// to stages; and what is read has been read when that is told.
TEST(ScheduleMutation, WhatDoesNotWaitWhereEveryoneLendsIsFound) {
  const auto matters = [](const Schedule& schedule, std::uint32_t rank, const Step& earlier,
                          const Step& later) {
    if (earlier.kind == StepKind::await) return reads_anothers(schedule, rank, later);
    return later.kind == StepKind::publish &&
           (earlier.kind == StepKind::reduce || reads_anothers(schedule, rank, earlier));
  };
  EXPECT_GE(drop_each(lent_by_all, matters), 9);
  EXPECT_GE(drop_each(taken_whole, matters), 12);
}

// In two levels: what is read of others, and sent of what they did, after their marks; what is shown, and
// done by others, before ours. More than that is waited for where one phase follows another one, and a rank
// that showed something in the first shows nothing in the second.
bool is_needed_by_levels(const Schedule& schedule, std::uint32_t rank, const Step& earlier,
                         const Step& later) {
  if (earlier.kind == StepKind::await)
    return reads_anothers(schedule, rank, later) || later.kind == StepKind::send;
  const bool shows = is_local(earlier) && is_shared(earlier.to.space);
  return later.kind == StepKind::publish && (shows || earlier.kind == StepKind::receive);
}

TEST(ScheduleMutation, WhatIsNotWaitedForBetweenTwoLevelsIsFound) {
  int dropped = 0;
  for (const Case& one : {two_level, two_level_lent, two_level_barrier})
    dropped += drop_each(one, is_needed_by_levels);
  EXPECT_GT(dropped, 30);
}

// By which ranks find each other's places in stages.
TEST(ScheduleMutation, AStageOfWhichRanksUseAnotherPartThanTheySayIsFound) {
  for (const Case& one : {flat, slices, lent_flat, two_level}) {
    const Group group(one);
    std::vector<Schedule> schedules = group.schedules();
    --schedules[1].stage_count;
    EXPECT_NE(prove(group, schedules, 1), "") << describe(one);
    for (std::uint32_t rank = 0; rank < one.size; ++rank)
      if (rank != 1) --schedules[rank].stage_count;
    EXPECT_NE(prove(group, schedules, 1).find("leaves its buffer"), std::string::npos) << describe(one);
  }
}

TEST(ScheduleMutation, ABarrierThatDoesNotWaitIsFound) {
  const Group group(barrier);
  const std::vector<Schedule> right = group.schedules();
  for (std::uint32_t rank = 0; rank < barrier.size; ++rank)
    for (std::uint32_t index = 0; index < right[rank].successors.size(); ++index) {
      std::vector<Schedule> wrong = right;
      wrong[rank] = without_dependency(right[rank], index);
      EXPECT_NE(prove(group, wrong, 1), "") << "rank " << rank << ", dependency " << index;
    }
}

TEST(ScheduleMutation, SwappedOperandsAreFound) {
  const Group group(doubling);
  std::vector<Schedule> schedules = group.schedules();
  for_each_step(schedules, StepKind::reduce, [&](Schedule& schedule, Step& step) {
    std::swap(schedule.operands[step.first_operand], schedule.operands[step.first_operand + 1]);
    EXPECT_NE(prove(group, schedules, 1), "");
    std::swap(schedule.operands[step.first_operand], schedule.operands[step.first_operand + 1]);
  });
  EXPECT_EQ(prove(group, schedules, 1), "");
}

TEST(ScheduleMutation, AContributionThatIsTakenTwiceIsFound) {
  const Group group(ring);
  std::vector<Schedule> schedules = group.schedules();
  for_each_step(schedules, StepKind::reduce, [&](Schedule& schedule, Step& step) {
    Slice& operand = schedule.operands[step.first_operand];
    const Slice right = std::exchange(operand, schedule.operands[step.first_operand + 1]);
    EXPECT_NE(prove(group, schedules, 1), "");
    operand = right;
  });
}

TEST(ScheduleMutation, AMessageOfAnotherSizeIsFound) {
  const Group group(ring);
  std::vector<Schedule> schedules = group.schedules();
  for_each_step(schedules, StepKind::send, [&](Schedule&, Step& step) {
    --step.from.count;
    EXPECT_NE(prove(group, schedules, 1), "");
    ++step.from.count;
  });
}

TEST(ScheduleMutation, RanksThatFirstReceiveAndThenSendAreADeadlock) {
  const Group group({Operation::all_gather, Algorithm::linear, 2, 0, 1});
  std::vector<Schedule> schedules;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    Builder builder(Operation::all_gather, group.shape(rank));
    const std::uint32_t receive = builder.receive(1 - rank, builder.output().part(1 - rank, 1));
    builder.order(receive, builder.send(1 - rank, builder.input()));
    builder.copy(builder.input(), builder.output().part(rank, 1));
    schedules.push_back(builder.finish());
  }
  EXPECT_NE(prove(group, schedules, 1).find("never end"), std::string::npos);
}

TEST(ScheduleMutation, RanksThatWaitForTheEndOfTheirSendNeedBuffers) {
  const Group group({Operation::all_gather, Algorithm::linear, 2, 0, 1});
  std::vector<Schedule> schedules;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    Builder builder(Operation::all_gather, group.shape(rank));
    const std::uint32_t send = builder.send(1 - rank, builder.input());
    builder.order(send, builder.receive(1 - rank, builder.output().part(1 - rank, 1)));
    builder.copy(builder.input(), builder.output().part(rank, 1));
    schedules.push_back(builder.finish());
  }
  EXPECT_EQ(simulate(group, schedules, Sends::buffered, 1), "");
  EXPECT_NE(simulate(group, schedules, Sends::rendezvous, 1), "");
}

}  // namespace
}  // namespace parley::schedule
