#include "bench/compare/budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "bench/compare/compare_options.h"
#include "bench/compare/progress.h"

namespace parley::bench::compare {
namespace {

Workload default_workload() {
  const CompareOptions options;
  Workload workload;
  for (const char* name : {"parley", "openmpi", "mpich", "gloo"}) workload.contenders.push_back({name, name});
  workload.cases = cases_of(options);
  workload.seconds = 60 * options.minutes;
  return workload;
}

TEST(CompareBudget, TheDefaultComparisonFitsIntoAQuarterOfAnHour) {
  const Workload workload = default_workload();
  EXPECT_EQ(workload.cases.size(), 16U);
  const Budget budget = make_budget(workload);
  EXPECT_TRUE(budget.fits);
  EXPECT_LT(budget.seconds, 15 * 60);
  EXPECT_GE(budget.rounds, wanted_rounds);
}

TEST(CompareBudget, MoreTimeMakesLongerLaunchesOrMoreRounds) {
  Workload workload = default_workload();
  const Budget little = make_budget(workload);
  workload.seconds *= 4;
  const Budget much = make_budget(workload);
  EXPECT_GE(much.rounds, wanted_rounds);
  EXPECT_GT(much.rounds * much.launch_rounds * much.round_ms,
            little.rounds * little.launch_rounds * little.round_ms);
  workload.seconds *= 100;
  EXPECT_EQ(make_budget(workload).rounds, most_rounds);
}

TEST(CompareBudget, SaysWhenThereIsNotEnoughTime) {
  Workload workload = default_workload();
  workload.seconds = 30;
  const Budget budget = make_budget(workload);
  EXPECT_FALSE(budget.fits);
  EXPECT_EQ(budget.rounds, least_rounds);
  EXPECT_EQ(budget.launch_rounds, 1);
}

TEST(CompareBudget, KeepsTheRoundsThatWereWanted) {
  Workload workload = default_workload();
  workload.rounds = 4;
  EXPECT_EQ(make_budget(workload).rounds, 4);
  workload.seconds = 1;
  EXPECT_EQ(make_budget(workload).rounds, 4);
  EXPECT_FALSE(make_budget(workload).fits);
}

TEST(CompareBudget, CountsLaunches) {
  Workload workload = default_workload();
  workload.rounds = 1;
  workload.seconds = 1e9;
  const double all = make_budget(workload).seconds;
  workload.contenders.resize(1);
  EXPECT_LT(make_budget(workload).seconds, all);
  workload.cases.resize(1);
  const Budget one = make_budget(workload);
  EXPECT_DOUBLE_EQ(one.seconds,
                   launch_seconds(workload.contenders[0], workload.cases[0], sizes_of(workload.cases[0], {}),
                                  one.launch_rounds, one.round_ms, 2));
}

TEST(CompareBudget, LaunchesAsPlannedWhileTheyTakeAsLongAsPlanned) {
  const Workload workload = default_workload();
  const Budget planned = make_budget(workload);
  const double round = planned.seconds / planned.rounds;
  for (int rounds = 0; rounds <= planned.rounds; ++rounds) {
    for (const double pace : {0.1, 1.0, 1.05}) {
      const Budget next = adapt_budget(workload, planned, {rounds, pace * rounds * round, pace});
      EXPECT_EQ(next.rounds, planned.rounds);
      EXPECT_EQ(next.launch_rounds, planned.launch_rounds);
      EXPECT_EQ(next.round_ms, planned.round_ms);
    }
  }
}

TEST(CompareBudget, ShortensLaunchesThatTakeLongerThanPlannedUntilAllRoundsFit) {
  Workload workload = default_workload();
  workload.seconds *= 4;
  const Budget planned = make_budget(workload);
  const double round = planned.seconds / planned.rounds;
  double last = planned.launch_rounds * planned.round_ms;
  for (const double slower : {1.3, 1.7, 2.2}) {
    const double pace = slower * workload.seconds / planned.seconds;  // than what would fit
    const Budget next = adapt_budget(workload, planned, {1, pace * round, pace});
    EXPECT_EQ(next.rounds, planned.rounds);
    EXPECT_TRUE(next.fits) << pace;
    EXPECT_LE(next.seconds, workload.seconds);
    EXPECT_LT(next.launch_rounds * next.round_ms, last) << pace;
    last = next.launch_rounds * next.round_ms;
  }
  // Time that went by elsewhere is no pace, but is missing.
  const Budget late = adapt_budget(workload, planned, {1, 3 * round, 1});
  EXPECT_EQ(late.launch_rounds, planned.launch_rounds);
  const Budget shortest = adapt_budget(workload, planned, {1, 100 * round, 100});
  EXPECT_EQ(shortest.rounds, planned.rounds);
  EXPECT_EQ(shortest.launch_rounds, 1);
  EXPECT_EQ(shortest.round_ms, 1);
  EXPECT_FALSE(shortest.fits);
}

TEST(CompareOrder, InterleavesAndRotates) {
  const std::vector<Launch> launches = order_launches(3, 2, 3);
  ASSERT_EQ(launches.size(), 18U);
  std::vector<std::size_t> first_of_rounds;
  for (std::size_t i = 0; i < launches.size(); i += 3) {
    // One case after the other, each with all contenders.
    EXPECT_EQ(launches[i].where, launches[i + 2].where);
    EXPECT_EQ(
        (std::set<std::size_t>{launches[i].contender, launches[i + 1].contender, launches[i + 2].contender}),
        (std::set<std::size_t>{0, 1, 2}));
    if (launches[i].where == 0) first_of_rounds.push_back(launches[i].contender);
  }
  EXPECT_EQ(first_of_rounds, (std::vector<std::size_t>{0, 1, 2}));
}

TEST(CompareCommand, IsWhatContendersUnderstand) {
  const Contender contender{"openmpi", "/somewhere/peer-openmpi"};
  const Budget budget{7, 3, 2.5, 0, true};
  EXPECT_EQ(
      command_of(contender, {"latency", "shm", 4, true}, std::vector<std::size_t>{8, 65536}, budget, "rows"),
      (std::vector<std::string>{"/somewhere/peer-openmpi", "latency", "--ranks", "4", "--transport", "shm",
                                "--sizes", "8,64K", "--rounds", "3", "--round-ms", "2.5", "--json", "rows",
                                "--rewrite"}));
}

TEST(CompareCommand, TellsOnlyParleyOfItsArena) {
  const Budget budget{7, 3, 2.5, 0, true};
  const std::vector<std::size_t> sizes{8};
  const Case where{"all_reduce", "shm", 2, false, true};
  EXPECT_EQ(command_of({"parley", "bin/parley-bench"}, where, sizes, budget, "rows").back(), "--arena");
  EXPECT_EQ(command_of({"before", "old/parley-bench"}, where, sizes, budget, "rows").back(), "--arena");
  EXPECT_EQ(command_of({"openmpi", "bin/peer-openmpi"}, where, sizes, budget, "rows").back(), "rows");
}

TEST(CompareProgress, TrustsThePlanFirstAndThePaceLater) {
  EXPECT_EQ(remaining_seconds(100, 0, 3), 100);
  // Twice as slow as planned.
  EXPECT_DOUBLE_EQ(remaining_seconds(100, 0.5, 100), 100);
  EXPECT_GT(remaining_seconds(100, 0.05, 10), 95);
  EXPECT_EQ(format_duration(7.2), "0:07");
  EXPECT_EQ(format_duration(750), "12:30");
  EXPECT_EQ(format_duration(3723), "1:02:03");
}

}  // namespace
}  // namespace parley::bench::compare
