#include "api/schedule/catalogue.h"

#include <gtest/gtest.h>

#include <array>

namespace parley::schedule {
namespace {

TEST(Names, AreFoundAgain) {
  for (const Operation operation : all_operations()) EXPECT_EQ(find_operation(name(operation)), operation);
  for (const Algorithm algorithm : all_algorithms()) EXPECT_EQ(find_algorithm(name(algorithm)), algorithm);
  EXPECT_EQ(name(Operation::exscan), "exscan");
  EXPECT_EQ(name(Algorithm::two_level_sliced), "two_level_sliced");
  EXPECT_FALSE(find_operation("allreduce").has_value());
  EXPECT_FALSE(find_algorithm("").has_value());
}

TEST(Catalogue, HasEveryEntryOnceAndEveryAlgorithmSomewhere) {
  for (const Entry& entry : catalogue()) EXPECT_EQ(find_entry(entry.operation, entry.algorithm), &entry);
  for (const Algorithm algorithm : all_algorithms()) {
    bool found = false;
    for (const Operation operation : all_operations())
      found = found || find_entry(operation, algorithm) != nullptr;
    EXPECT_TRUE(found) << name(algorithm);
  }
}

TEST(Catalogue, HasForEveryReductionOneThatFoldsOnceInRankOrder) {
  for (const Operation operation : all_operations()) {
    if (!reduces(operation)) continue;
    const Shape shape{.rank = 0, .size = 7, .root = 3, .count = 5};
    bool found = false;
    for (const Algorithm algorithm : supported(operation, shape)) {
      const Traits has = traits(operation, algorithm, shape);
      EXPECT_TRUE(has.keeps_rank_order || !has.folds_once) << name(algorithm);
      found = found || has.folds_once;
    }
    EXPECT_TRUE(found) << name(operation);
  }
}

TEST(Catalogue, ATreeKeepsRankOrderOnlyFromRankZero) {
  Shape shape{.rank = 0, .size = 4, .count = 5};
  EXPECT_TRUE(traits(Operation::reduce, Algorithm::binomial, shape).keeps_rank_order);
  shape.root = 1;
  EXPECT_FALSE(traits(Operation::reduce, Algorithm::binomial, shape).keeps_rank_order);
}

TEST(Catalogue, TwoLevelsNeedSeveralHostsOneOfThemWithSeveralRanks) {
  Shape shape{.rank = 0, .size = 4, .count = 5};
  EXPECT_FALSE(supports(Operation::all_reduce, Algorithm::two_level, shape));
  constexpr std::array<std::uint32_t, 4> alone{1, 2, 3, 4}, paired{1, 1, 2, 2};
  shape.hosts = alone;
  EXPECT_FALSE(supports(Operation::all_reduce, Algorithm::two_level, shape));
  shape.hosts = paired;
  EXPECT_TRUE(supports(Operation::all_reduce, Algorithm::two_level, shape));
}

TEST(Catalogue, AGroupOfOneCopiesItsInput) {
  const Shape shape{.rank = 0, .size = 1, .count = 5};
  const Schedule schedule = make(Operation::all_reduce, Algorithm::ring, shape);
  ASSERT_EQ(schedule.steps.size(), 1U);
  EXPECT_EQ(schedule.steps[0].kind, StepKind::copy);
  EXPECT_TRUE(make(Operation::exscan, Algorithm::linear, shape).steps.empty());
  EXPECT_TRUE(make(Operation::barrier, Algorithm::linear, shape).steps.empty());
}

TEST(Catalogue, TwoRanksThatExchangeAndFoldNeedThreeSteps) {
  const Shape shape{.rank = 1, .size = 2, .count = 5};
  for (const Algorithm algorithm : {Algorithm::linear, Algorithm::recursive_doubling}) {
    const Schedule schedule = make(Operation::all_reduce, algorithm, shape);
    EXPECT_EQ(schedule.steps.size(), 3U) << name(algorithm);
    EXPECT_EQ(schedule.scratch_count, 5U) << name(algorithm);
  }
}

}  // namespace
}  // namespace parley::schedule
