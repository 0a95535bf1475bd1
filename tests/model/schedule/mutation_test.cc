// The proof notices what is wrong: schedules with one deliberate mistake.
#include <gtest/gtest.h>

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
