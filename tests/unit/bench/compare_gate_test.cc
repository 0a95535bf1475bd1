#include "bench/compare/gate.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "bench/compare/rows.h"
#include "tests/unit/bench/compare_samples.h"

namespace parley::bench::compare {
namespace {

std::vector<Standing> standing(const std::vector<double>& us, double limit_us = 0,
                               double probe_ns = near_ns) {
  std::vector<Sample> samples;
  add(samples, "parley", us);
  if (limit_us > 0) set_limits(samples, limit_us);
  for (Sample& sample : samples) sample.probe_ns = probe_ns;
  return standings_of(judge(samples));
}

TEST(CompareGate, ASlowerLibraryIsNamed) {
  const Judgement judgement =
      judge_change(standing({1.3, 1.31, 1.29, 1.3, 1.32}, 1), standing({1, 1.01, 0.99, 1, 1.02}, 1), 0.1);
  ASSERT_EQ(judgement.slower.size(), 1U);
  EXPECT_NEAR(judgement.slower[0].times.value, 1.3, 0.01);
  EXPECT_TRUE(judgement.slower[0].relative_to_limit);
  const std::string text = judgement_text(judgement, 0.1);
  EXPECT_EQ(text.find("SLOWER  latency, shm, 2 ranks, buffers kept, 1 KiB: 1.30 times the time before ["), 0U)
      << text;
}

TEST(CompareGate, WithinTheToleranceIsNoChange) {
  const Judgement judgement =
      judge_change(standing({1.05, 1.06, 1.04, 1.05, 1.07}, 1), standing({1, 1.01, 0.99, 1, 1.02}, 1), 0.1);
  EXPECT_EQ(judgement.compared.size(), 1U);
  EXPECT_TRUE(judgement.slower.empty());
  EXPECT_TRUE(judgement.faster.empty());
}

// The whole interval has to lie beyond.
TEST(CompareGate, NoiseIsNoChange) {
  const Judgement judgement =
      judge_change(standing({0.9, 1.6, 1.2, 1.0, 1.5}, 1), standing({1, 1.4, 0.8, 1, 1.2}, 1), 0.1);
  EXPECT_TRUE(judgement.slower.empty());
}

TEST(CompareGate, AFasterLibraryIsTold) {
  const Judgement judgement =
      judge_change(standing({1, 1.01, 0.99, 1, 1.02}, 1), standing({2, 2.01, 1.99, 2, 2.02}, 1), 0.1);
  EXPECT_EQ(judgement.faster.size(), 1U);
  EXPECT_TRUE(judgement.slower.empty());
}

// The machine got slower, and Parley with it.
TEST(CompareGate, WhatSlowsTheLimitAsWellIsNoRegression) {
  const Judgement judgement =
      judge_change(standing({4, 4.1, 3.9, 4, 4}, 2), standing({2, 2.1, 1.9, 2, 2}, 1), 0.1);
  EXPECT_EQ(judgement.compared.size(), 1U);
  EXPECT_TRUE(judgement.slower.empty());
}

// Parley takes 3 times its limit between near cores, and 1.8 times between far ones: slowed 1.5 times there
// it would pass, and as it is it would fail in the other direction.
TEST(CompareGate, TimesOverTheLimitAreComparedInOnePlaceOnly) {
  const auto near = standing({0.15, 0.15, 0.15}, 0.05);
  const auto far = standing({0.216, 0.216, 0.216}, 0.12, far_ns);
  const auto slowed_far = standing({0.324, 0.324, 0.324}, 0.12, far_ns);
  EXPECT_EQ(judge_change(slowed_far, near, 0.1).not_comparable, 1);
  EXPECT_EQ(judge_change(near, far, 0.1).not_comparable, 1);
  EXPECT_EQ(judge_change(slowed_far, far, 0.1).slower.size(), 1U);
}

TEST(CompareGate, OfMixedRunsThePlaceThatBothMetMostIsCompared) {
  std::vector<Sample> samples;
  for (int round = 0; round < 7; ++round) {
    const bool is_far = round < 3;
    samples.push_back(sample_of("parley", round, is_far ? 0.324 : 0.15, is_far ? far_ns : near_ns));
    samples.back().limit_us = is_far ? 0.12 : 0.05;
  }
  const auto mixed = standings_of(judge(samples));
  ASSERT_EQ(mixed[0].mode, Mode::mixed);
  // Only the far rounds were slower.
  const Judgement far = judge_change(mixed, standing({0.216, 0.216, 0.216}, 0.12, far_ns), 0.1);
  ASSERT_EQ(far.slower.size(), 1U);
  EXPECT_NEAR(far.slower[0].times.value, 1.5, 0.01);
  const Judgement near = judge_change(mixed, standing({0.15, 0.15, 0.15}, 0.05), 0.1);
  EXPECT_EQ(near.compared.size(), 1U);
  EXPECT_TRUE(near.slower.empty());
}

TEST(CompareGate, WithoutALimitOnlyOnePlaceOfTheCoresCompares) {
  const auto slow = standing({2, 2.1, 1.9, 2, 2});
  const auto fast = standing({1, 1.1, 0.9, 1, 1});
  EXPECT_EQ(judge_change(slow, fast, 0.1).slower.size(), 1U);
  EXPECT_FALSE(judge_change(slow, fast, 0.1).slower[0].relative_to_limit);
  const Judgement elsewhere = judge_change(standing({2, 2.1, 1.9, 2, 2}, 0, far_ns), fast, 0.1);
  EXPECT_EQ(elsewhere.not_comparable, 1);
  EXPECT_TRUE(elsewhere.slower.empty());
}

TEST(CompareGate, DisturbedAndShortRunsAreNotComparable) {
  auto disturbed = standing({2, 2, 2, 2}, 1);
  disturbed[0].disturbed = true;
  EXPECT_EQ(judge_change(disturbed, standing({1, 1, 1, 1}, 1), 0.1).not_comparable, 1);
  EXPECT_EQ(judge_change(standing({2, 2}, 1), standing({1, 1, 1}, 1), 0.1).not_comparable, 1);
  EXPECT_EQ(judge_change({}, standing({1, 1, 1}, 1), 0.1).missing, 1);
}

TEST(CompareGate, AComparisonOfNothingSaysSo) {
  auto disturbed = standing({1, 1, 1, 1}, 1);
  disturbed[0].disturbed = true;
  const std::string words = "\nNothing at all could be compared with the earlier run";
  for (const auto& now : {disturbed, standing({1, 1}, 1), std::vector<Standing>{}}) {
    const Judgement judgement = judge_change(now, standing({1, 1, 1}, 1), 0.1);
    EXPECT_TRUE(says_nothing(judgement));
    EXPECT_NE(judgement_text(judgement, 0.1).find(words), std::string::npos);
  }
  const Judgement good = judge_change(standing({1, 1, 1}, 1), standing({1, 1, 1}, 1), 0.1);
  EXPECT_FALSE(says_nothing(good));
  EXPECT_EQ(judgement_text(good, 0.1).find(words), std::string::npos);
}

TEST(CompareGate, ReadsBackWhatARunHasWritten) {
  const Study study = example_study();
  const std::string rows = json_rows_of(study);
  const std::vector<Standing> read = read_standings(rows + rows);
  const std::vector<Standing> own = standings_of(study.lines);
  ASSERT_EQ(read.size(), own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    EXPECT_EQ(read[i].where, own[i].where);
    EXPECT_EQ(read[i].bytes, own[i].bytes);
    EXPECT_EQ(read[i].mode, own[i].mode);
    ASSERT_EQ(read[i].us.size(), own[i].us.size());
    ASSERT_EQ(read[i].limit_times.size(), own[i].limit_times.size());
    for (std::size_t k = 0; k < own[i].limit_times.size(); ++k)
      EXPECT_NEAR(read[i].limit_times[k], own[i].limit_times[k], 1e-4);
  }
  const Judgement judgement = judge_change(own, read, 0.01);
  EXPECT_EQ(judgement.compared.size(), own.size());
  EXPECT_TRUE(judgement.slower.empty());
}

TEST(CompareGate, RefusesAFileWithoutSamples) {
  EXPECT_THROW(read_standings(""), std::runtime_error);
  EXPECT_THROW(read_standings(R"({"schema":"parley-bench/1","system":"parley"})"), std::runtime_error);
  EXPECT_THROW(read_standings(R"({"schema":"parley-bench/1","system":"parley","samples_us":[1]})"),
               std::runtime_error);
}

TEST(CompareGate, NamesWhatIsFarBeyondTheLimit) {
  std::vector<Sample> samples;
  add(samples, "parley", {6, 6.1, 5.9});
  set_limits(samples, 1);
  EXPECT_EQ(judge_limit(judge(samples), 5).beyond.size(), 1U);
  EXPECT_TRUE(judge_limit(judge(samples), 6).beyond.empty());
  EXPECT_EQ(judge_limit(judge(samples), 6).held, 1U);
}

TEST(CompareGate, HoldsMixedLinesToTheLimitAndDisturbedOnesNot) {
  std::vector<Sample> samples;
  add(samples, "parley", {6, 6.1, 5.9});
  set_limits(samples, 1);
  samples[0].probe_ns = 60;
  samples[1].probe_ns = samples[2].probe_ns = 250;
  EXPECT_EQ(judge_limit(judge(samples), 5).beyond.size(), 1U);
  for (Sample& sample : samples) sample.core_share = 0.5;
  const LimitJudgement disturbed = judge_limit(judge(samples), 5);
  EXPECT_EQ(disturbed.held, 0U);
  EXPECT_EQ(judgement_text(disturbed, 5),
            "0 lines held against 5 times the raw limit: 0 beyond; 1 DISTURBED\n");
  EXPECT_FALSE(says_nothing(disturbed));
}

TEST(CompareGate, AVerdictWithoutALimitSaysSo) {
  std::vector<Sample> samples;
  add(samples, "parley", {6, 6.1});
  set_limits(samples, 1);
  const LimitJudgement judgement = judge_limit(judge(samples), 7);
  EXPECT_TRUE(says_nothing(judgement));
  EXPECT_EQ(judgement_text(judgement, 7),
            "0 lines held against 7 times the raw limit: 0 beyond; 1 without a limit in three rounds\n"
            "No line could be held against its limit, and nothing disturbed them\n");
}

}  // namespace
}  // namespace parley::bench::compare
