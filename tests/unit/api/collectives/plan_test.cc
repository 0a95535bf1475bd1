// What a plan says of the stages that its turns use.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/collective/plan.h"

namespace parley::collective {
namespace {

using schedule::Operation;
using schedule::Progress;

constexpr std::size_t line_bytes = 56, stage_bytes = std::size_t{256} << 10;

Team team_of(std::uint32_t rank, std::uint32_t ranks) {
  Team team;
  team.rank = rank;
  for (std::uint32_t other = 0; other < ranks; ++other) {
    team.processes.push_back(other);
    if (other != rank) team.neighbours.push_back(other);
  }
  return team;
}

PlanHandle plan_of_rank(std::uint32_t rank, std::uint32_t ranks, const Question& question,
                        const schedule::Overrides& overrides = {}) {
  const Team team = team_of(rank, ranks);
  PlanCache plans(team, overrides);
  plans.share_memory({.line_bytes = line_bytes, .usual = {stage_bytes}});
  return plans.find(question);
}

TEST(Plan, TellsAllRanksTheSamePlaceWithRoomForWhatItsTurnsUse) {
  for (const Operation operation :
       {Operation::broadcast, Operation::reduce, Operation::all_reduce, Operation::scatter, Operation::gather,
        Operation::all_gather, Operation::reduce_scatter, Operation::all_to_all})
    for (const std::uint32_t ranks : {2, 3, 4, 7})
      for (const std::uint32_t element_bytes : {1, 4, 8})
        for (const std::uint64_t bytes : {8, 1000, 4096, 4104, 10'000, 70'000, 1'000'000}) {
          const Question question{.operation = operation,
                                  .root = ranks - 1,
                                  .count = bytes / element_bytes,
                                  .element_bytes = element_bytes};
          const auto first = plan_of_rank(0, ranks, question);
          ASSERT_GT(first->schedule.turns, 0U) << "by messages";
          const std::uint64_t used = first->schedule.stage_count * element_bytes;
          ASSERT_LE(used, stage_bytes);
          if (used <= 4096) {
            EXPECT_EQ(first->stage_bytes, 0U) << used;
          } else {
            EXPECT_TRUE(std::has_single_bit(first->stage_bytes)) << used;
            EXPECT_GE(first->stage_bytes, used);
            EXPECT_LT(first->stage_bytes, 2 * used);
          }
          for (std::uint32_t rank = 1; rank < ranks; ++rank)
            EXPECT_EQ(plan_of_rank(rank, ranks, question)->stage_bytes, first->stage_bytes);
        }
}

// The mark that a rank waits for first of all, of any other one.
std::int32_t earliest_awaited(const schedule::Schedule& schedule) {
  std::int32_t earliest = INT32_MAX;
  for (const schedule::Step& step : schedule.steps)
    if (step.kind == schedule::StepKind::await) earliest = std::min(earliest, step.mark);
  return earliest;
}

TEST(Plan, LetsRanksRunAheadInSmallCallsWithARoot) {
  constexpr std::size_t kib = 1024;
  constexpr PlanCache::SharedRoom::Stages usual{1024 * kib, 2}, ahead{256 * kib, 8};
  const auto set_of = [&](Operation operation, std::uint64_t bytes, std::uint32_t rank,
                          const PlanCache::SharedRoom::Stages& small) {
    const Team team = team_of(rank, 4);
    const schedule::Overrides none;
    PlanCache plans(team, none);
    const PlanCache::SharedRoom room{.line_bytes = line_bytes, .usual = usual, .ahead = small};
    plans.share_memory(room);
    const PlanHandle& plan =
        plans.find({.operation = operation, .root = 1, .count = bytes / 4, .element_bytes = 4});
    EXPECT_EQ(plan->schedule.turns > 0, bytes > 0) << "by messages";
    const PlanCache::SharedRoom::Stages& stages = room.of(plan->stage_set);
    EXPECT_LE(plan->schedule.stage_count * 4, stages.bytes);
    // Who shows something waits until all have done with what lies where it goes, and no longer.
    const bool root_shows = operation == Operation::broadcast || operation == Operation::scatter;
    if (bytes > 0 && has_root(operation) && root_shows == (rank == 1)) {
      EXPECT_EQ(earliest_awaited(plan->schedule), mark_of(1 - stages.turns, Progress::entered));
    }
    return plan->stage_set;
  };
  for (const std::uint32_t rank : {0, 1, 3}) {
    for (const Operation operation : {Operation::broadcast, Operation::reduce, Operation::gather}) {
      EXPECT_EQ(set_of(operation, 4 * kib, rank, ahead), StageSet::ahead);
      EXPECT_EQ(set_of(operation, 1024 * kib, rank, ahead), StageSet::ahead);
      EXPECT_EQ(set_of(operation, 1024 * kib + 4, rank, ahead), StageSet::usual) << "takes most of them";
      for (const std::uint64_t bytes : {0 * kib, 4 * kib})
        EXPECT_EQ(set_of(operation, bytes, rank, {}), StageSet::usual) << "there are none";
    }
    EXPECT_EQ(set_of(Operation::scatter, 256 * kib / 4, rank, ahead), StageSet::ahead);
    EXPECT_EQ(set_of(Operation::scatter, 256 * kib / 2, rank, ahead), StageSet::usual)
        << "more than one stage";
    for (const Operation operation :
         {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter, Operation::all_to_all})
      EXPECT_EQ(set_of(operation, 4 * kib, rank, ahead), StageSet::usual) << "all wait for all";
  }
}

TEST(Plan, OfTwoPartsTakesOneTurnForEachWhereAllLend) {
  for (const std::uint64_t bytes : {128 << 10, 300'000, 16 << 20})
    for (const std::uint32_t rank : {0, 1})
      for (const bool in_place : {false, true}) {
        const auto plan = plan_of_rank(rank, 2,
                                       {.operation = Operation::all_reduce,
                                        .count = bytes / 4,
                                        .element_bytes = 4,
                                        .in_place = in_place,
                                        .rank_order = true});
        ASSERT_NE(plan->if_lent, nullptr) << bytes;
        EXPECT_EQ(plan->roll_call->schedule.turns, 1U);
        EXPECT_EQ(plan->if_lent->schedule.turns, 1U);
        EXPECT_EQ(plan->if_lent->schedule.stage_count, 0U) << "all of it is lent";
      }
}

TEST(Plan, HasOnePartWhereItIsTheSameWhoeverLends) {
  const Question small{.operation = Operation::all_reduce, .count = (128 << 10) - 1};
  const Question large{.operation = Operation::all_reduce, .count = 1 << 20};
  const Question broadcast{.operation = Operation::broadcast, .count = 1 << 20};
  EXPECT_EQ(plan_of_rank(0, 2, small)->if_lent, nullptr);
  EXPECT_EQ(plan_of_rank(0, 2, broadcast)->roll_call, nullptr);
  EXPECT_EQ(plan_of_rank(0, 4, large)->if_lent, nullptr) << "each slice is read where it is lent";
  Team sharing_a_core = team_of(0, 2);
  sharing_a_core.surroundings.ranks_per_core = 2;
  const schedule::Overrides none;
  PlanCache plans(sharing_a_core, none);
  plans.share_memory({.line_bytes = line_bytes, .usual = {stage_bytes}});
  EXPECT_EQ(plans.find(large)->if_lent, nullptr) << "each mark costs a switch";
  schedule::Overrides asked;
  for (const auto algorithm : {schedule::Algorithm::flat, schedule::Algorithm::slices}) {
    asked.set(Operation::all_reduce, algorithm);
    EXPECT_EQ(plan_of_rank(0, 2, large, asked)->if_lent, nullptr);
  }
  asked.set(Operation::all_to_all, schedule::Algorithm::flat);
  const Question moved{.operation = Operation::all_to_all, .count = 1 << 20};
  EXPECT_NE(plan_of_rank(0, 2, moved, asked)->if_lent, nullptr) << "that is flat, too";
}

// A table tells what is fastest by what ranks show each other, for nothing else is measured for it.
TEST(Plan, HasTwoPartsWhereATableChoosesSharedMemory) {
  const Question large{.operation = Operation::all_reduce, .count = 1 << 20};
  const auto measured = [](schedule::Algorithm algorithm) {
    schedule::TuningRow row;
    row.up_to = {.operation = Operation::all_reduce, .ranks = 2, .bytes = schedule::any_size};
    row.algorithm = algorithm;
    schedule::Overrides table;
    table.set_tuning(std::make_shared<const schedule::Tuning>(std::vector{row}));
    return table;
  };
  for (const auto in_memory : {schedule::Algorithm::flat, schedule::Algorithm::slices}) {
    const PlanHandle confirmed = plan_of_rank(0, 2, large, measured(in_memory));
    EXPECT_TRUE(confirmed->choice.measured);
    EXPECT_NE(confirmed->if_lent, nullptr);
  }
  const PlanHandle another = plan_of_rank(0, 2, large, measured(schedule::Algorithm::rabenseifner));
  EXPECT_TRUE(another->choice.measured);
  EXPECT_EQ(another->roll_call, nullptr);
}

// What is written once and read once, by one other.
TEST(Plan, OfWhatIsMovedHasTwoPartsWhereItIsLarge) {
  constexpr std::uint64_t large = 256 << 10;
  const auto calls_the_roll = [](Operation operation, std::uint32_t ranks, std::uint64_t bytes) {
    return plan_of_rank(1, ranks, {.operation = operation, .count = bytes})->roll_call != nullptr;
  };
  for (const std::uint32_t ranks : {2, 3, 4}) {
    EXPECT_TRUE(calls_the_roll(Operation::all_to_all, ranks, large));
    EXPECT_FALSE(calls_the_roll(Operation::all_to_all, ranks, large - 1));
    EXPECT_TRUE(calls_the_roll(Operation::scatter, ranks, (4 * large + ranks - 2) / (ranks - 1)));
    EXPECT_FALSE(calls_the_roll(Operation::scatter, ranks, (4 * large - 1) / (ranks - 1)));
    EXPECT_EQ(calls_the_roll(Operation::all_gather, ranks, large), ranks == 2);
    EXPECT_FALSE(calls_the_roll(Operation::gather, ranks, 16 * large));
  }
}

// Of what all ranks of the host give, together; half of the caches is for others.
TEST(Plan, LandsPastCachesThatCannotHoldIt) {
  constexpr std::uint64_t mib = 1 << 20;
  const auto lands_past = [](Operation operation, std::uint64_t count, std::size_t cache_bytes,
                             std::uint32_t rank = 1, bool in_place = false) {
    Team team = team_of(rank, 4);
    team.cache_bytes = cache_bytes;
    const schedule::Overrides none;
    PlanCache plans(team, none);
    plans.share_memory({.line_bytes = line_bytes, .usual = {stage_bytes}});
    const PlanHandle& plan = plans.find(
        {.operation = operation, .root = 2, .count = count, .element_bytes = 4, .in_place = in_place});
    if (plan->if_lent != nullptr) {
      EXPECT_EQ(plan->if_lent->lands_past_caches, plan->lands_past_caches);
    }
    return plan->lands_past_caches;
  };
  struct Case {
    Operation operation;
    std::uint64_t blocks, in_place;  // of `mib` elements, that four ranks have
  };
  for (const Case& each :
       {Case{Operation::broadcast, 5, 4}, Case{Operation::reduce, 5, 4}, Case{Operation::all_reduce, 8, 4},
        Case{Operation::scatter, 8, 7}, Case{Operation::gather, 8, 7}, Case{Operation::all_gather, 20, 16},
        Case{Operation::reduce_scatter, 20, 16}, Case{Operation::all_to_all, 32, 16}})
    for (const std::uint32_t rank : {0, 2})
      for (const bool in_place : {false, true}) {
        const std::size_t most = (in_place ? each.in_place : each.blocks) * 4 * mib * 2;
        EXPECT_TRUE(lands_past(each.operation, mib, most, rank, in_place));
        EXPECT_FALSE(lands_past(each.operation, mib, most + 16, rank, in_place));
      }
  EXPECT_FALSE(lands_past(Operation::all_to_all, 64 * mib, Team().cache_bytes)) << "nothing is known";
  EXPECT_FALSE(lands_past(Operation::barrier, 0, 4096));
}

// Hosts have caches of their own.
TEST(Plan, CountsWhatTheRanksOfItsHostGive) {
  Team team = team_of(1, 4);
  team.hosts = {0, 0, 1, 1};
  team.neighbours = {0};
  const std::uint64_t bytes = 1 << 20, on_host = 2 * (bytes + 4 * bytes);
  const auto lands_past = [&](schedule::Algorithm algorithm, std::size_t cache_bytes) {
    team.cache_bytes = cache_bytes;
    schedule::Overrides asked;
    asked.set(Operation::all_gather, algorithm);
    PlanCache plans(team, asked);
    plans.share_memory({.line_bytes = line_bytes, .usual = {stage_bytes}});
    return plans.find({.operation = Operation::all_gather, .count = bytes})->lands_past_caches;
  };
  EXPECT_TRUE(lands_past(schedule::Algorithm::two_level, on_host * 2));
  EXPECT_FALSE(lands_past(schedule::Algorithm::two_level, on_host * 2 + 2));
  EXPECT_FALSE(lands_past(schedule::Algorithm::ring, on_host * 2)) << "what has landed is sent on";
}

// More would keep others from the engine for long; who reads all and copies nothing of its own has the least.
TEST(Plan, IsRunStraightUpToABoundWhoeverLends) {
  const auto reads_straight = [](std::uint64_t bytes) {
    const auto plan = plan_of_rank(1, 2, {.operation = Operation::broadcast, .count = bytes});
    EXPECT_EQ(plan->schedule.has_loans, bytes >= PlanCache::least_loan_bytes) << bytes;
    return plan->is_straight;
  };
  constexpr std::uint64_t most = 512 << 10;
  for (const std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{64} << 10, most})
    EXPECT_TRUE(reads_straight(bytes)) << bytes;
  EXPECT_FALSE(reads_straight(most + 1));
}

// What is folded is read: of 17 vectors more than of two.
TEST(Plan, CountsWhatIsFolded) {
  const auto local_count = [](std::uint32_t ranks) {
    schedule::Overrides flat;
    flat.set(Operation::reduce, schedule::Algorithm::flat);
    return plan_of_rank(0, ranks, {.operation = Operation::reduce, .count = 1000}, flat)->local_count;
  };
  EXPECT_EQ(local_count(2), 1000U);
  EXPECT_EQ(local_count(17), 16'000U);
}

// A rank that left out the first part would take what comes in it for the second one. Of many small blocks
// only the root's part is long.
TEST(Plan, OfTwoPartsIsNotRunStraight) {
  schedule::Overrides flat;
  flat.set(Operation::scatter, schedule::Algorithm::flat);
  int in_two_parts = 0;
  for (const std::uint32_t ranks : {2, 3, 4, 16, 18, 24, 33, 64})
    for (const std::uint64_t bytes :
         {1 << 10, 8 << 10, 20 << 10, 48 << 10, 63 << 10, 64 << 10, 300'000, 1 << 20}) {
      const Question question{.operation = Operation::scatter, .count = bytes};
      const bool calls_the_roll = plan_of_rank(0, ranks, question, flat)->roll_call != nullptr;
      for (const std::uint32_t rank : {1U, ranks - 1}) {
        const PlanHandle plan = plan_of_rank(rank, ranks, question, flat);
        EXPECT_EQ(plan->roll_call != nullptr, calls_the_roll) << bytes << " B for each of " << ranks;
        EXPECT_FALSE(calls_the_roll && plan->is_straight) << bytes << " B for each of " << ranks;
      }
      in_two_parts += calls_the_roll && bytes < PlanCache::least_loan_bytes ? 1 : 0;
    }
  EXPECT_GT(in_two_parts, 0);
}

// Its schedule could not be what others take of it.
TEST(Plan, OfAnAllToAllInPlaceAsksButLendsNothing) {
  const auto plan =
      plan_of_rank(0, 2, {.operation = Operation::all_to_all, .count = 1 << 20, .in_place = true});
  EXPECT_NE(plan->roll_call, nullptr) << "others may be not in place";
  EXPECT_EQ(plan->if_lent, nullptr);
}

TEST(Plan, OfTwoPartsSaysSo) {
  const Team team = team_of(0, 2);
  const schedule::Overrides overrides;
  PlanCache plans(team, overrides);
  plans.share_memory({.line_bytes = line_bytes, .usual = {stage_bytes}});
  const std::string text = plans.explain({.operation = Operation::all_reduce, .count = 1 << 20});
  EXPECT_TRUE(text.ends_with("; in one piece where all buffers are shared tensors")) << text;
  const std::string large = plans.explain({.operation = Operation::all_reduce, .count = 2 << 20});
  EXPECT_TRUE(
      large.ends_with(", or where that is faster and every rank may copy them out of the others' "
                      "processes"))
      << large;
  const std::string moved = plans.explain({.operation = Operation::all_to_all, .count = 1 << 20});
  EXPECT_NE(moved.find("; in one piece where all inputs are shared tensors"), std::string::npos) << moved;
}

// Of blocks that go in segments, what a segment takes: the smaller its place, the more of them there are.
TEST(Plan, OfScatterInSegmentsUsesWhatOneOfThemTakes) {
  const auto plan = plan_of_rank(1, 2, {.operation = Operation::scatter, .count = stage_bytes});
  ASSERT_GT(plan->choice.chosen.segment_count, 0U);
  EXPECT_EQ(plan->schedule.stage_count, plan->choice.chosen.segment_count);
}

TEST(PlanCache, KeepsWhatWasAskedLast) {
  const Team team = team_of(0, 2);
  const schedule::Overrides none;
  PlanCache plans(team, none);
  const auto find = [&](std::uint64_t count) -> PlanHandle {
    return plans.find({.operation = Operation::broadcast, .count = count});
  };
  const PlanHandle first = find(0);
  const PlanHandle second = find(1);
  for (std::uint64_t count = 2; count < PlanCache::most_plans; ++count) {
    find(count);
    EXPECT_EQ(find(0), first);
  }
  EXPECT_EQ(find(1), second) << "all have room";
  find(PlanCache::most_plans);
  EXPECT_EQ(find(0), first);
  EXPECT_EQ(find(1), second);
  find(2);
  EXPECT_EQ(find(1), second) << "the third one had gone, and the fourth one goes";
}

TEST(PlanCache, ForgetsWhatItChoseBeforeThereWasSharedMemory) {
  const Team team = team_of(0, 2);
  const schedule::Overrides none;
  PlanCache plans(team, none);
  const Question question{.operation = Operation::broadcast, .count = 8};
  const PlanHandle before = plans.find(question);
  EXPECT_EQ(before->schedule.turns, 0U);
  plans.share_memory({.line_bytes = line_bytes, .usual = {stage_bytes}});
  EXPECT_GT(plans.find(question)->schedule.turns, 0U);
  EXPECT_EQ(before->shares.value, 1U);
}

// Whatever the places of those asked last say.
TEST(PlanCache, AnswersEachQuestionByItsOwnPlan) {
  const Team team = team_of(0, 3);
  const schedule::Overrides none;
  PlanCache plans(team, none);
  for (int round = 0; round < 2; ++round)
    for (std::uint64_t count = 1; count <= 2 * PlanCache::most_plans; ++count)
      for (const std::uint32_t root : {0U, 1U, 2U}) {
        const Question question{.operation = Operation::scatter, .root = root, .count = count};
        const PlanHandle plan = plans.find(question);
        ASSERT_EQ(plan->local_count, root == 0 ? count : 0) << "only the root copies its own block";
        ASSERT_EQ(plans.find(question), plan);
      }
}

}  // namespace
}  // namespace parley::collective
