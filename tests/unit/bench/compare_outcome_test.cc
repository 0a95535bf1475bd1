#include "bench/compare/outcome.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "bench/compare/floor.h"
#include "tests/unit/bench/compare_samples.h"

namespace parley::bench::compare {
namespace {

TEST(CompareOutcome, PairsRoundByRound) {
  std::vector<Sample> samples;
  // Both are three times as slow in the second round: their ratio is not.
  add(samples, "parley", {1, 3, 1});
  add(samples, "openmpi", {2, 6, 2});
  const std::vector<Line> lines = judge(samples);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].best_peer, "openmpi");
  EXPECT_EQ(lines[0].to_peer->value, 0.5);
  EXPECT_EQ(lines[0].to_peer->bounds->hi, 0.5);
  EXPECT_EQ(lines[0].to_peer->count, 3);
  EXPECT_EQ(lines[0].find("parley")->median_us, 1);
  EXPECT_EQ(lines[0].find("parley")->hi_us, 3);
}

TEST(CompareOutcome, TakesTheFastestPeer) {
  std::vector<Sample> samples;
  add(samples, "mpich", {3, 3, 3});
  add(samples, "gloo", {9, 9, 9});
  add(samples, "openmpi", {4, 4, 4});
  add(samples, "parley", {6, 6, 6});
  const std::vector<Line> lines = judge(samples);
  EXPECT_EQ(lines[0].best_peer, "mpich");
  EXPECT_EQ(lines[0].to_peer->value, 2);
  // Parley, the contenders in their order, then the others.
  EXPECT_EQ(lines[0].entries[0].system, "parley");
  EXPECT_EQ(lines[0].entries[1].system, "openmpi");
  EXPECT_EQ(lines[0].entries[3].system, "gloo");
}

TEST(CompareOutcome, DoesNotPairRoundsOfDifferentModes) {
  std::vector<Sample> samples;
  for (int round = 0; round < 6; ++round) {
    // Parley met far cores in the first rounds, the peer near ones.
    samples.push_back(sample_of("parley", round, round < 3 ? 4 : 1, round < 3 ? far_ns : near_ns));
    samples.push_back(sample_of("openmpi", round, 1, near_ns));
  }
  const std::vector<Line> lines = judge(samples);
  EXPECT_EQ(lines[0].mode, Mode::mixed);
  EXPECT_EQ(lines[0].to_peer->count, 3);
  EXPECT_EQ(lines[0].to_peer->value, 1);
}

TEST(CompareOutcome, WithoutACommonModeThereIsNoRatio) {
  const std::vector<Sample> samples{sample_of("parley", 0, 4, far_ns), sample_of("openmpi", 0, 1, near_ns)};
  EXPECT_FALSE(judge(samples)[0].to_peer);
}

TEST(CompareOutcome, ASystemThatDoesNotProbeIsPairedAllTheSame) {
  const std::vector<Sample> samples{sample_of("parley", 0, 4, far_ns), sample_of("openmpi", 0, 2, 0)};
  EXPECT_EQ(judge(samples)[0].to_peer->value, 2);
}

TEST(CompareOutcome, WithMoreRanksThanCoresNobodyKnowsTheMode) {
  const Case four{"latency", "shm", 4, false};
  const std::vector<Sample> samples{sample_of("parley", 0, 4, 50'000, four),
                                    sample_of("openmpi", 0, 2, 200, four)};
  const std::vector<Line> lines = judge(samples);
  EXPECT_FALSE(lines[0].mode);
  EXPECT_EQ(lines[0].to_peer->value, 2);
}

TEST(CompareOutcome, HoldsTheLibraryAgainstTheLimitOfTheSameLaunch) {
  std::vector<Sample> samples;
  add(samples, "parley", {2, 4, 6});
  samples[0].limit_us = 1;
  samples[1].limit_us = 2;
  samples[2].limit_us = 3;
  const std::vector<Line> lines = judge(samples);
  EXPECT_EQ(lines[0].to_limit->value, 2);
  EXPECT_EQ(lines[0].find("raw")->median_us, 2);
  EXPECT_FALSE(judge_samples(samples, {2, false, {}})[0].to_limit);
}

TEST(CompareOutcome, LeavesVoidAndDisturbedSamplesOut) {
  std::vector<Sample> samples;
  add(samples, "parley", {1, 1, 1, 50, 70});
  samples[3].core_share = 0.5;
  samples[4].void_reason = "a debugger";
  const std::vector<Line> lines = judge(samples);
  EXPECT_EQ(lines[0].find("parley")->hi_us, 1);
  EXPECT_EQ(lines[0].find("parley")->left_out, 2);
  EXPECT_FALSE(lines[0].disturbed);
}

TEST(CompareOutcome, OnABusyMachineTheLineSaysSo) {
  std::vector<Sample> samples;
  add(samples, "parley", {1, 1, 1, 1});
  for (Sample& sample : samples) sample.core_share = 0.6;
  const std::vector<Line> lines = judge(samples);
  EXPECT_TRUE(lines[0].disturbed);
  EXPECT_EQ(lines[0].find("parley")->samples.size(), 4U);
}

TEST(CompareOutcome, AQuietPeerDoesNotMakeALineQuiet) {
  const auto line_with = [](const std::string& disturbed) {
    std::vector<Sample> samples;
    add(samples, "parley", {1, 1, 1, 1});
    add(samples, "openmpi", {2, 2, 2, 2});
    add(samples, "mpich", {3, 3, 3, 3});
    for (Sample& sample : samples) sample.core_share = sample.system == disturbed ? 0.6 : 1;
    return judge(samples)[0];
  };
  EXPECT_TRUE(line_with("parley").disturbed);
  EXPECT_TRUE(line_with("openmpi").disturbed);
  EXPECT_FALSE(line_with("mpich").disturbed);
  EXPECT_FALSE(line_with("").disturbed);
}

TEST(CompareOutcome, AVoidSystemHasNoFigures) {
  std::vector<Sample> samples;
  add(samples, "parley", {1, 1, 1});
  samples.push_back(sample_of("openmpi", 0, 2, 24'000));
  const std::vector<Line> lines = judge(samples);
  const Entry* const peer = lines[0].find("openmpi");
  EXPECT_FALSE(peer->has_figures());
  EXPECT_NE(peer->void_reason->find("24000 ns"), std::string::npos);
  EXPECT_FALSE(lines[0].best_peer);
}

TEST(CompareOutcome, SizesAscendAndOperationsKeepTheirOrder) {
  std::vector<Sample> samples;
  add(samples, "parley", {1}, bandwidth_over_tcp, 64);
  add(samples, "parley", {1}, latency_over_shm, 1024);
  add(samples, "parley", {1}, latency_over_shm, 8);
  const std::vector<Line> lines = judge(samples);
  EXPECT_EQ(lines[0].where.op, "latency");
  EXPECT_EQ(lines[0].bytes, 8U);
  EXPECT_EQ(lines[1].bytes, 1024U);
  EXPECT_EQ(lines[2].where.op, "bandwidth");
}

Sample limited(double limit_us, std::size_t bytes = 8, double probe_ns = near_ns,
               const Case& where = latency_over_shm) {
  Sample sample = sample_of("parley", 0, 1, probe_ns, where, bytes);
  sample.limit_us = limit_us;
  sample.memcpy_gb_per_s = 40;
  return sample;
}

TEST(CompareFloor, ALoopThatSpinsIsALimit) {
  EXPECT_FALSE(limit_void_reason(limited(0.047), 2));
  EXPECT_FALSE(limit_void_reason(limited(0.2, 8, far_ns), 2));
}

// The raw loop without its spin: it yields (0.4 us here), or sleeps (24 us).
TEST(CompareFloor, ALoopWithoutItsSpinIsNone) {
  EXPECT_TRUE(limit_void_reason(limited(0.4), 2));
  EXPECT_TRUE(limit_void_reason(limited(24), 2));
  EXPECT_TRUE(limit_void_reason(limited(38, 8, near_ns, {"latency", "tcp", 2, false}), 2));
  EXPECT_FALSE(limit_void_reason(limited(5.6, 8, near_ns, {"latency", "tcp", 2, false}), 2));
}

TEST(CompareFloor, AnAllReduceOfTwoRanksTakesALineAsWell) {
  const Case where{"all_reduce", "shm", 2, false};
  EXPECT_FALSE(limit_void_reason(limited(0.06, 8, near_ns, where), 2));
  EXPECT_TRUE(limit_void_reason(limited(0.4, 8, near_ns, where), 2));
  EXPECT_FALSE(limit_void_reason(limited(3.4, 8, 50'000, {"all_reduce", "shm", 4, false}), 2));
}

TEST(CompareFloor, ALoopThatMovesNothingIsNone) {
  EXPECT_TRUE(limit_void_reason(limited(0.01), 2));
  EXPECT_TRUE(limit_void_reason(limited(1, 1 << 20), 2));
  EXPECT_FALSE(limit_void_reason(limited(50, 1 << 20), 2));
}

TEST(CompareFloor, EachDirectionMayCopyAtTwiceTheSpeedOfMemcpy) {
  // 40 GB/s for a memcpy; 105 GB/s here.
  EXPECT_TRUE(limit_void_reason(limited(10, 1 << 20, near_ns, {"bandwidth", "shm", 2, false}), 2));
  EXPECT_FALSE(limit_void_reason(limited(10, 1 << 20, near_ns, {"bidirectional", "shm", 2, false}), 2));
  EXPECT_TRUE(limit_void_reason(limited(5, 1 << 20, near_ns, {"bidirectional", "shm", 2, false}), 2));
}

TEST(CompareFloor, WithMoreRanksThanCoresLoopsYield) {
  EXPECT_FALSE(limit_void_reason(limited(2, 8, 50'000, {"latency", "shm", 4, false}), 2));
  EXPECT_FALSE(sample_void_reason(limited(2, 8, 50'000, {"latency", "shm", 4, false}), 2));
  EXPECT_TRUE(sample_void_reason(limited(2, 8, 50'000), 2));
}

TEST(CompareFloor, ABrokenLoopVoidsTheLimitAndNotTheLibrary) {
  std::vector<Sample> samples;
  add(samples, "parley", {1, 1, 1}, latency_over_shm, 8);
  set_limits(samples, 24);
  const std::vector<Line> lines = judge(samples);
  EXPECT_FALSE(lines[0].to_limit);
  EXPECT_FALSE(lines[0].find("raw")->has_figures());
  EXPECT_NE(lines[0].find("raw")->void_reason->find("a loop that spins"), std::string::npos);
  EXPECT_TRUE(lines[0].find("parley")->has_figures());
}

TEST(CompareFloor, WhatTheLaunchSaysOfItsLimitHolds) {
  Sample sample = limited(0.05);
  sample.limit_void_reason = "it sleeps";
  EXPECT_EQ(limit_void_reason(sample, 2), "it sleeps");
  sample.limit_us.reset();
  EXPECT_FALSE(limit_void_reason(sample, 2));
}

const Origin origin{bandwidth_over_tcp, 3, "parley", "bin/parley-bench", 40};
constexpr const char* row =
    R"({"schema":"parley-bench/1","op":"bandwidth","transport":"tcp","ranks":2,"bytes":1000,"system":"parley",)"
    R"("median_us":0.5,"p99_us":null,"mb_per_s":2000,"limit_us":null,"limit_mb_per_s":4000,"probe_ns":61,)"
    R"("core_share":0.99,"void":null})";

TEST(CompareSample, ReadsARow) {
  const std::vector<Sample> samples = read_rows(std::string(row) + "\n\n", origin);
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].us, 0.5);
  EXPECT_EQ(samples[0].limit_us, 0.25);
  EXPECT_EQ(samples[0].round, 3);
  EXPECT_EQ(samples[0].core_share, 0.99);
  EXPECT_FALSE(samples[0].p99_us);
}

TEST(CompareSample, ReadsWhatIsVoid) {
  std::string text = row;
  text.replace(text.find("\"void\":null"), 11, R"("void":"a","limit_void":"b")");
  EXPECT_EQ(read_rows(text, origin)[0].void_reason, "a");
  EXPECT_EQ(read_rows(text, origin)[0].limit_void_reason, "b");
}

TEST(CompareSample, AnotherBuildOfTheLibraryHasTheNameOfItsContender) {
  Origin other = origin;
  other.contender = "before";
  EXPECT_EQ(read_rows(row, other)[0].system, "before");
}

TEST(CompareSample, ParleyInItsArenaHasTheNameOfItsContenderWhereThatIsAskedFor) {
  std::string text = row;
  text.replace(text.find("parley\","), 6, "parley-arena");
  Origin asked = origin;
  asked.where.arena = true;
  EXPECT_EQ(read_rows(text, asked)[0].system, "parley");
}

TEST(CompareSample, APeerAndItsWaysHaveTheNameOfTheirContender) {
  const auto system_of = [](const std::string& program, const std::string& system) {
    std::string text = row;
    text.replace(text.find("parley\","), 6, system);
    return read_rows(text, {bandwidth_over_tcp, 3, "self", program, 40})[0].system;
  };
  EXPECT_EQ(system_of("/a/peer-openmpi", "openmpi"), "self");
  EXPECT_EQ(system_of("/a/peer-gloo", "gloo"), "self");
  EXPECT_EQ(system_of("/a/peer-gloo", "gloo-default"), "self-default");
  EXPECT_EQ(system_of("/a/peer-openmpi.sh", "openmpi"), "self");
  EXPECT_EQ(system_of("/a/parley-bench", "openmpi"), "openmpi");
  EXPECT_EQ(system_of("/a/peer-gloo", "gloomy"), "gloomy");
}

TEST(CompareSample, LeavesRawRowsOut) {
  std::string raw = row;
  raw.replace(raw.find("\"parley\""), 8, "\"raw cell\"");
  EXPECT_TRUE(read_rows(raw, origin).empty());
}

TEST(CompareSample, RefusesWhatIsNoRow) {
  EXPECT_THROW(read_rows("no row", origin), std::runtime_error);
  EXPECT_THROW(read_rows("{}", origin), std::runtime_error);
  Origin other = origin;
  other.where.op = "latency";
  EXPECT_THROW(read_rows(row, other), std::runtime_error);
  std::string zero = row;
  zero.replace(zero.find("0.5"), 3, "0.0");
  EXPECT_THROW(read_rows(zero, origin), std::runtime_error);
}

}  // namespace
}  // namespace parley::bench::compare
