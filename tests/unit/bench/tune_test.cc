// What parley-bench tune makes of figures, and how it has a collective done by each algorithm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/testing.h>

#include <set>
#include <string>
#include <vector>

#include "bench/command_line.h"
#include "bench/tune/algorithm_library.h"
#include "bench/tune/finding.h"
#include "bench/tune/report.h"
#include "bench/tune/tune_options.h"
#include "tests/unit/bench/mistake.h"

namespace parley::bench::tune {
namespace {

using schedule::Algorithm;
using schedule::Operation;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Contest contest_of(const std::vector<std::vector<double>>& rounds_us) {
  constexpr const char* systems[] = {"ring", "linear", "flat"};
  Contest contest;
  for (const auto& one : rounds_us) {
    contest.systems.emplace_back(systems[contest.series.size()]);
    contest.series.push_back({one, {}, {}});
  }
  contest.probe_ns = 60;
  return contest;
}

TEST(TuneFinding, KeepsTheFirstUnlessAnotherOneIsClearlyFaster) {
  const std::vector<double> model{10, 11, 9, 10, 10};
  EXPECT_EQ(winner_of(contest_of({model})), 0U);
  EXPECT_EQ(winner_of(contest_of({model, {5, 6, 5, 5, 5}, {6, 6, 6, 6, 6}})), 1U);
  EXPECT_EQ(winner_of(contest_of({model, {6, 6, 6, 6, 6}, {5, 6, 5, 5, 5}})), 2U);
  // By a little, or not in all rounds.
  EXPECT_EQ(winner_of(contest_of({model, {9.7, 10.7, 8.7, 9.7, 9.7}})), 0U);
  EXPECT_EQ(winner_of(contest_of({model, {5, 12, 5, 12, 5}})), 0U);
  // Of two rounds no interval can be told.
  EXPECT_EQ(winner_of(contest_of({{10, 10}, {1, 1}})), 0U);
  // Nothing is left of what the gate takes.
  EXPECT_EQ(winner_of(contest_of({{0, 0, 0}, {0, 0, 0}})), 0U);
}

TEST(TuneFinding, TellsBothChoicesWithTheirTimes) {
  const schedule::TuningCase where{Operation::all_reduce, 4, schedule::Link::tcp, true, 64};
  const Finding finding = finding_of(where, contest_of({{10, 11, 12}, {3, 2, 4}}));
  EXPECT_EQ(finding.where, where);
  EXPECT_EQ(finding.predicted, Algorithm::ring);
  EXPECT_EQ(finding.chosen, Algorithm::linear);
  EXPECT_EQ(finding.predicted_us, 11);
  EXPECT_EQ(finding.chosen_us, 3);
  EXPECT_EQ(finding.probe_ns, 60);
}

Finding chosen(Operation operation, std::uint32_t ranks, std::uint64_t bytes, Algorithm algorithm) {
  Finding finding;
  finding.where = {operation, ranks, schedule::Link::shared_memory, false, bytes};
  finding.predicted = Algorithm::ring;
  finding.chosen = algorithm;
  finding.predicted_us = 2;
  finding.chosen_us = 1;
  finding.probe_ns = static_cast<double>(50 + ranks);
  return finding;
}

const std::vector<Finding> some_findings{
    chosen(Operation::all_reduce, 2, 8, Algorithm::flat),
    chosen(Operation::all_reduce, 2, 64, Algorithm::flat),
    chosen(Operation::all_reduce, 2, 1024, Algorithm::ring),
    chosen(Operation::all_reduce, 2, 4096, Algorithm::flat),
    chosen(Operation::barrier, 2, 0, Algorithm::linear),
    chosen(Operation::all_reduce, 4, 8, Algorithm::flat),
    chosen(Operation::all_reduce, 4, 64, Algorithm::ring),
};

TEST(TuneFinding, BecomesARowForEachRunOfSizes) {
  const schedule::Tuning tuning = tuning_of(some_findings);
  EXPECT_EQ(schedule::format_tuning(tuning, ""),
            "parley-tuning 1\n"
            "# operation ranks link cores bytes algorithm\n"
            "all_reduce 2 shm own 256 flat\n"
            "all_reduce 2 shm own 2048 ring\n"
            "all_reduce 2 shm own 4096 flat\n"
            "all_reduce 4 shm own 22 flat\n"
            "all_reduce 4 shm own 64 ring\n"
            "barrier 2 shm own any linear\n");
}

TEST(TuneReport, TellsTheCommandTheMachineAndEachCase) {
  const std::string remarks = remarks_on({}, "parley-bench tune --ranks 2", some_findings);
  EXPECT_THAT(remarks,
              AllOf(HasSubstr("Written by: parley-bench tune --ranks 2\n"), HasSubstr("Usable cores: "),
                    HasSubstr("From core to core, one way: 2 ranks 52 to 52 ns, 4 ranks 54 to 54 ns\n")));
  EXPECT_TRUE(schedule::parse_tuning(schedule::format_tuning({}, remarks)).ok());
  const std::string summary = summary_of(some_findings);
  EXPECT_EQ(std::count(summary.begin(), summary.end(), '\n'), 8);
  EXPECT_THAT(summary, HasSubstr("all_reduce           2      1K  ring"));
}

TEST(TuneOptions, HaveUsefulDefaults) {
  const auto options = parse_tune_options({});
  ASSERT_TRUE(options.has_value());
  EXPECT_THAT(options->ranks, ElementsAre(2, 4));
  EXPECT_EQ(options->transport, "shm");
  EXPECT_EQ(options->ops.size(), 9U);
  EXPECT_TRUE(options->output.empty());
}

TEST(TuneOptions, SayWhatIsMeasured) {
  const auto options = parse_tune_options({"--ranks", "6,2,6", "--transport", "tcp", "--sizes", "1K,8",
                                           "--operations", "barrier,scatter", "--rounds", "3", "--round-ms",
                                           "0.5", "--output", "f", "--quiet"});
  ASSERT_TRUE(options.has_value());
  EXPECT_THAT(options->ranks, ElementsAre(6, 2));
  EXPECT_EQ(options->transport, "tcp");
  EXPECT_THAT(options->sizes, ElementsAre(8, 1024));
  EXPECT_THAT(options->ops, ElementsAre(Op::barrier, Op::scatter));
  EXPECT_EQ(options->rounds, 3);
  EXPECT_EQ(options->round_ms, 0.5);
  EXPECT_EQ(options->output, "f");
  EXPECT_TRUE(options->quiet);
}

std::string mistake(const std::vector<std::string>& words) {
  return mistake_of([&] { (void)parse_tune_options(words); });
}

TEST(TuneOptions, AreRefusedInWords) {
  EXPECT_THAT(mistake({"--ranks", "2,1"}), HasSubstr("--ranks '1': write whole numbers from 2 to "));
  EXPECT_THAT(mistake({"--operations", "latency"}), HasSubstr("there is no operation 'latency'"));
  EXPECT_THAT(mistake({"--transport", "shm,tcp"}), HasSubstr("write shm or tcp"));
  EXPECT_THAT(mistake({"--sizes", "6"}), HasSubstr("no multiple of 4"));
  EXPECT_THAT(mistake({"--colour"}), HasSubstr("there is no option --colour"));
  EXPECT_FALSE(parse_tune_options({"--ranks", "3", "--help"}).has_value());
}

TEST(TuneManual, NamesAllOptions) {
  for (const char* option : {"--ranks", "--transport", "--sizes", "--operations", "--rounds", "--round-ms",
                             "--output", "--quiet", "--help"})
    EXPECT_THAT(std::string(tune_manual()), HasSubstr(option));
}

TEST(AlgorithmLibrary, ReadsTheAlgorithmInAPlan) {
  EXPECT_EQ(
      algorithm_in("scan of 8 bytes on 2 ranks of 1 host over TCP: chain, about 3 us; next best linear"),
      Algorithm::chain);
  EXPECT_EQ(algorithm_in("broadcast of 8 bytes: chain in segments of 8192 bytes, about 3 us"),
            Algorithm::chain);
  EXPECT_EQ(algorithm_in("barrier on 2 ranks: flat; nothing else can do this"), Algorithm::flat);
  EXPECT_THROW((void)algorithm_in("nothing of this kind"), std::runtime_error);
  EXPECT_THROW((void)algorithm_in("a plan: circle"), std::runtime_error);
}

// Between threads, which share no memory: so flat and slices cannot do it.
TEST(AlgorithmLibrary, HoldsEachAlgorithmThatCanDoACallAgainstTheOthers) {
  Measurement measurement;
  measurement.op = Op::all_reduce;
  measurement.rounds = 3;
  measurement.round_ms = 0.01;
  parley::testing::run_world(4, [&](ProcessGroup& group) {
    AlgorithmLibrary library(group);
    LibrarySession session(library, measurement, Idle::yield);
    const Algorithm predicted = algorithm_in(group.describe_plan("all_reduce", 400));
    constexpr double all_of_them = 1e9;
    const auto contest = session.contest(400, all_of_them);
    EXPECT_EQ(contest.has_value(), group.rank() == 0);
    // One, for the first stays in any case.
    const auto first_and_quickest = session.contest(400, 0);
    if (!contest) return;
    EXPECT_EQ(contest->systems.front(), name(predicted));
    const std::set<std::string> systems(contest->systems.begin(), contest->systems.end());
    EXPECT_EQ(systems.size(), contest->systems.size());
    for (const char* one : {"linear", "ring", "recursive_doubling", "rabenseifner", "bruck", "pairwise"})
      EXPECT_TRUE(systems.contains(one)) << one;
    EXPECT_FALSE(systems.contains("flat"));
    ASSERT_EQ(contest->series.size(), contest->systems.size());
    for (const Series& series : contest->series) EXPECT_EQ(series.round_us.size(), 3U);
    EXPECT_THAT(first_and_quickest->systems, ElementsAre(name(predicted)));
  });
}

}  // namespace
}  // namespace parley::bench::tune
