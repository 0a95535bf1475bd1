#include "api/schedule/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/schedule/catalogue.h"

namespace parley::schedule {
namespace {

using testing::HasSubstr;

Request request(Operation operation, std::uint32_t size, std::uint64_t bytes) {
  return {.operation = operation, .shape = {.size = size, .count = bytes / 4}};
}

TEST(Selection, HasAPlanForEveryRequest) {
  const std::vector<std::uint32_t> placed{1, 1, 2, 2, 2, 3, 3, 3, 3};
  for (const Operation operation : all_operations())
    for (const std::uint32_t size : {1U, 2U, 5U, 9U})
      for (const std::uint64_t bytes : {0, 8, 4096, 1 << 24})
        for (int variant = 0; variant < 16; ++variant) {
          Request one = request(operation, size, bytes);
          one.shape.root = size - 1;
          one.commutative = variant % 2 == 0;
          one.rank_order = variant / 2 % 2 == 1;
          if (variant / 4 % 2 == 1) one.shape.hosts = std::span(placed).first(size);
          const std::vector<std::uint64_t> counts(size, bytes / 4);
          if (variant / 8 == 1) one.shape.counts = one.shape.receive_counts = counts;
          const Plan plan = select(one, {});
          ASSERT_TRUE(supports(operation, plan.chosen.algorithm, one.shape)) << explain(one, plan);
          if (!reduces(operation)) continue;
          const Traits has = traits(operation, plan.chosen.algorithm, one.shape);
          EXPECT_TRUE(has.keeps_rank_order || one.commutative) << explain(one, plan);
          EXPECT_TRUE(has.folds_once || !one.rank_order) << explain(one, plan);
        }
}

TEST(Selection, IsTheSameOnAllRanksInPlaceOrNot) {
  for (const Operation operation : all_operations()) {
    Request one = request(operation, 6, 40000);
    const std::string first = explain(one, select(one, {}));
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
      one.shape.rank = rank;
      one.shape.in_place = rank % 2 == 1;
      EXPECT_EQ(explain(one, select(one, {})), first);
    }
  }
}

TEST(Selection, HasOneRankWorkWhereAllMemoryIsOnOneDevice) {
  Request one = request(Operation::all_reduce, 4, 1 << 20);
  one.surroundings.is_one_device = true;
  const Plan plan = select(one, {});
  EXPECT_EQ(plan.chosen.algorithm, Algorithm::rooted);
  EXPECT_THAT(explain(one, plan), HasSubstr(", for all memory is on one device"));
  one.shape.count = std::uint64_t{1} << 30;
  EXPECT_FALSE(select(one, {}).for_one_device) << "12 GiB beside the caller's";
  one.shape.count = 1 << 20;
  one.operation = Operation::broadcast;
  EXPECT_EQ(select(one, {}).chosen.algorithm, Algorithm::linear);
  one.surroundings.near = Link::tcp;  // by way of the host
  EXPECT_FALSE(select(one, {}).for_one_device);
}

TEST(Selection, OfAnUnevenAllToAllDoesNotLookAtCounts) {
  const std::vector<std::uint64_t> few{0, 1, 2}, many{1 << 20, 0, 1 << 24};
  Request one = request(Operation::all_to_all, 3, 0);
  one.shape.counts = one.shape.receive_counts = few;
  const Plan plan = select(one, {});
  one.shape.counts = one.shape.receive_counts = many;
  EXPECT_EQ(select(one, {}).chosen.algorithm, plan.chosen.algorithm);
}

TEST(Selection, TakesFewMessagesForFewBytesAndLittleTrafficForMany) {
  const Overrides none;
  Request small = request(Operation::all_reduce, 16, 8);
  Request large = request(Operation::all_reduce, 16, 64 << 20);
  for (Request* one : {&small, &large}) one->surroundings.near = Link::tcp;
  const auto cost_of = [&](const Request& one) {
    return cost(one.operation, select(one, none).chosen.algorithm, one.shape);
  };
  EXPECT_LE(cost_of(small).near.messages, 5U);
  EXPECT_LE(cost_of(large).sent, 2 * large.shape.count);
}

TEST(Selection, CrossesHostsWithLessThanAllRanksHave) {
  std::vector<std::uint32_t> placed;
  for (std::uint32_t rank = 0; rank < 32; ++rank) placed.push_back(rank % 4);
  Request one = request(Operation::all_reduce, 32, 1024);
  one.shape.hosts = placed;
  const Algorithm chosen = select(one, {}).chosen.algorithm;
  EXPECT_TRUE(chosen == Algorithm::two_level || chosen == Algorithm::two_level_sliced) << name(chosen);
}

TEST(Selection, SaysWhetherTwoLevelsUseTheMemoryOfHosts) {
  const std::vector<std::uint32_t> placed{0, 0, 0, 1, 1};
  Request one = request(Operation::all_reduce, 5, 8);
  one.shape.hosts = placed;
  const auto said = [&] {
    return explain(one, select(one, parse_overrides("all_reduce=two_level").value()));
  };
  EXPECT_THAT(said(), HasSubstr("two_level, about"));
  one.shape.line_count = 1;
  one.shape.stage_count = 3;  // as many as ranks of the larger one
  EXPECT_THAT(said(), HasSubstr("two_level with memory shared on each host, about"));
  one.shape.stage_count = 2;
  EXPECT_THAT(said(), HasSubstr("two_level, about"));
}

// In memory that they share as many bytes go between two ranks either way, and it is the copies and folds
// that count; of more, each reads all others'.
TEST(Selection, LetsRanksOfAHostFoldEverythingThatIsSmallAndASliceElse) {
  const auto chosen = [](Operation operation, std::uint32_t ranks, std::uint64_t bytes) {
    Request one = request(operation, ranks, bytes);
    one.shape.line_count = 14;
    one.shape.stage_count = (256 << 10) / one.element_bytes;
    return select(one, {}).chosen.algorithm;
  };
  for (const std::uint64_t bytes : {8, 16 << 10, 64 << 10, 128 << 10, 1 << 20, 16 << 20}) {
    EXPECT_EQ(chosen(Operation::all_reduce, 2, bytes), bytes < 100'000 ? Algorithm::flat : Algorithm::slices)
        << bytes;
    EXPECT_EQ(chosen(Operation::reduce, 2, bytes), Algorithm::flat) << bytes;
    EXPECT_EQ(chosen(Operation::all_gather, 2, bytes), Algorithm::flat) << bytes;
  }
  EXPECT_EQ(chosen(Operation::all_reduce, 4, 8), Algorithm::flat);
  EXPECT_EQ(chosen(Operation::all_reduce, 4, 1 << 20), Algorithm::slices);
}

// Two that copy and fold at the same time; four on two cores, where each segment costs switches.
TEST(Selection, HasOneRootFoldInSegments) {
  const auto segment = [](std::uint32_t ranks, double ranks_per_core, std::uint64_t bytes) {
    Request one = request(Operation::reduce, ranks, bytes);
    one.shape.line_count = 14;
    one.shape.stage_count = (1 << 20) / 4;
    one.surroundings.ranks_per_core = ranks_per_core;
    const Candidate chosen = select(one, {}).chosen;
    EXPECT_EQ(chosen.algorithm, Algorithm::flat) << bytes;
    return chosen.segment_count * one.element_bytes;
  };
  EXPECT_EQ(segment(2, 1, 4 << 10), 0U);
  EXPECT_EQ(segment(2, 1, 64 << 10), 32U << 10);
  EXPECT_EQ(segment(2, 1, 256 << 10), 32U << 10);
  EXPECT_EQ(segment(2, 1, 1 << 20), 128U << 10) << "marks are not for nothing";
  EXPECT_EQ(segment(4, 2, 64 << 10), 0U);
  EXPECT_EQ(segment(4, 2, 1 << 20), 128U << 10);
  EXPECT_EQ(segment(2, 2, 1 << 20), 0U) << "nobody copies while the only core folds";
}

// Four ranks on two cores: a message between hosts is worked on by those, too.
TEST(Selection, TakesTwoLevelsWhereRanksOfTwoHostsShareCores) {
  const std::vector<std::uint32_t> placed{0, 0, 1, 1};
  Request one = request(Operation::all_reduce, 4, 8);
  one.shape.hosts = placed;
  one.surroundings.ranks_per_core = 2;
  EXPECT_EQ(select(one, {}).chosen.algorithm, Algorithm::two_level);
}

TEST(Selection, DoesWhatAnOverrideAsksForIfThatIsRight) {
  const Overrides asked = parse_overrides("all_reduce=ring").value();
  Request one = request(Operation::all_reduce, 4, 8);
  Plan plan = select(one, asked);
  EXPECT_EQ(plan.chosen.algorithm, Algorithm::ring);
  EXPECT_TRUE(plan.asked_for);
  EXPECT_THAT(explain(one, plan), HasSubstr("as PARLEY_ALGO or the group asks"));

  one.commutative = false;
  plan = select(one, asked);
  EXPECT_NE(plan.chosen.algorithm, Algorithm::ring);
  EXPECT_EQ(plan.refused, Algorithm::ring);
  EXPECT_THAT(
      explain(one, plan),
      HasSubstr("ring, which PARLEY_ALGO or the group asks for, cannot: it does not keep rank order"));
}

// What four ranks on two cores were measured with, over TCP.
TEST(Selection, TakesFewMessagesAndNoPipelineWhereRanksShareCores) {
  const auto chosen = [](Operation operation, std::uint64_t bytes) {
    Request one = request(operation, 4, bytes);
    one.surroundings = {.near = Link::tcp, .ranks_per_core = 2};
    return select(one, {}).chosen.algorithm;
  };
  EXPECT_EQ(chosen(Operation::all_reduce, 8), Algorithm::recursive_doubling);
  EXPECT_EQ(chosen(Operation::all_reduce, 64 << 10), Algorithm::rabenseifner);
  EXPECT_EQ(chosen(Operation::all_reduce, 1 << 20), Algorithm::rabenseifner);
  EXPECT_EQ(chosen(Operation::broadcast, 1 << 20), Algorithm::scatter_ring);
  EXPECT_EQ(chosen(Operation::all_to_all, 8), Algorithm::bruck);
  EXPECT_EQ(chosen(Operation::all_to_all, 1 << 20), Algorithm::linear);
}

// What three, four and eight ranks on two cores were measured with, in shared memory.
TEST(Selection, FoldsSlicesSoonerWhereRanksShareCoresButForOneRoot) {
  const auto chosen = [](Operation operation, std::uint32_t ranks, std::uint64_t bytes) {
    Request one = request(operation, ranks, bytes);
    one.shape.line_count = 14;
    one.shape.stage_count = (256 << 10) / 4;
    one.surroundings.ranks_per_core = ranks / 2.0;
    return select(one, {}).chosen.algorithm;
  };
  EXPECT_EQ(chosen(Operation::all_reduce, 3, 64 << 10), Algorithm::flat);
  EXPECT_EQ(chosen(Operation::all_reduce, 4, 16 << 10), Algorithm::flat);
  EXPECT_EQ(chosen(Operation::all_reduce, 4, 64 << 10), Algorithm::slices);
  EXPECT_EQ(chosen(Operation::all_reduce, 8, 16 << 10), Algorithm::slices);
  for (const std::uint64_t bytes : {16 << 10, 64 << 10})
    for (const std::uint32_t ranks : {4, 8})
      EXPECT_EQ(chosen(Operation::reduce, ranks, bytes), Algorithm::flat);
}

TEST(Selection, IsExplainedInWords) {
  Request one = request(Operation::all_reduce, 4, 1 << 20);
  const std::string text = explain(one, select(one, {}));
  EXPECT_THAT(text, HasSubstr("all_reduce of 1048576 bytes on 4 ranks of 1 host over shared memory: "));
  EXPECT_THAT(text, HasSubstr(" us; next best "));
}

TEST(Prediction, GrowsWithBytesAndWithRanksThatShareACore) {
  Surroundings crowded;
  crowded.ranks_per_core = 2;
  for (const Entry& entry : catalogue()) {
    if (entry.operation == Operation::barrier) continue;
    const Shape small{.size = 8, .count = 64}, large{.size = 8, .count = 640000};
    if (!supports(entry.operation, entry.algorithm, small)) continue;
    const double one = predict_ns(entry.operation, entry.algorithm, small, 4, {});
    EXPECT_GT(one, 0);
    EXPECT_GT(predict_ns(entry.operation, entry.algorithm, large, 4, {}), one) << name(entry.algorithm);
    EXPECT_GT(predict_ns(entry.operation, entry.algorithm, small, 4, crowded), one) << name(entry.algorithm);
  }
}

}  // namespace
}  // namespace parley::schedule
