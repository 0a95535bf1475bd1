// Contests, what goes wrong in them, and what is written of them.
#include "tools/sim/study.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/unit/sim/settings.h"
#include "tools/sim/chart.h"
#include "tools/sim/crew.h"
#include "tools/sim/json.h"
#include "tools/sim/page.h"
#include "tools/sim/quantity.h"
#include "tools/sim/table.h"

namespace parley::sim {
namespace {

using schedule::Algorithm;
using schedule::Operation;

Study study_of(std::vector<const char*> words) {
  words.insert(words.begin(), "parley-sim");
  return conduct(parse_options(static_cast<int>(words.size()), words.data()));
}

TEST(Contest, HasAllThatCanDoItTheFastestFirstAndWhatTheLibraryTakes) {
  Setting setting = alone(16);
  setting.network.ranks_per_host = 4;
  const Call call{.operation = Operation::all_reduce, .bytes = 1 << 20};
  const Contest contest = hold(setting, call, {});
  const std::vector<std::uint32_t> hosts = setting.network.host_of_each();
  const schedule::Request request = request_of(setting, call, hosts);
  EXPECT_EQ(contest.taken().candidate.algorithm, schedule::select(request, {}).chosen.algorithm);
  EXPECT_EQ(contest.entrants.size(), schedule::supported(Operation::all_reduce, request.shape).size());
  for (std::size_t i = 1; i < contest.entrants.size(); ++i)
    EXPECT_GE(contest.entrants[i].figure.ns, contest.entrants[i - 1].figure.ns);
}

TEST(Contest, LooksAtTheAlgorithmsThatAreAskedForAndWhatTheLibraryTakes) {
  const std::vector only{Algorithm::linear};
  const Contest contest = hold(alone(16), {.operation = Operation::all_reduce, .bytes = 1 << 20}, {}, only);
  std::set<Algorithm> found;
  for (const Entrant& entrant : contest.entrants) found.insert(entrant.candidate.algorithm);
  EXPECT_EQ(found, (std::set{Algorithm::linear, contest.taken().candidate.algorithm}));
}

TEST(Contest, LosesAHostOnlyWhereOthersAreLeft) {
  const auto refusal = [](std::uint32_t ranks_per_host, std::uint32_t lost) -> std::string {
    Setting setting = alone(8);
    setting.network.ranks_per_host = ranks_per_host;
    Trouble trouble;
    trouble.lost_host = lost;
    try {
      hold(setting, {.bytes = 64}, trouble);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(4, 2), "--lose 2: 8 ranks are on hosts 0 to 1");
  EXPECT_EQ(refusal(8, 1), "--lose 1: 8 ranks are on one host, and it is number 0");
  EXPECT_EQ(refusal(8, 0), "--lose 0: 8 ranks are on that host, all there are: nobody is left");
  EXPECT_EQ(refusal(4, 1), "");
}

TEST(Crew, DoesAllAndFailsAsTheFirst) {
  std::vector<int> done(100);
  for_each_of(done.size(), [&](std::size_t i) { ++done[i]; });
  EXPECT_EQ(done, std::vector<int>(100, 1));
  const auto fail = [](std::size_t i) {
    if (i % 2 == 1) throw UsageError(std::to_string(i));
  };
  try {
    for_each_of(100, fail);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "1");
  }
}

TEST(Trouble, SlowsTheRanksThatItNamesOrAllByChance) {
  Trouble trouble;
  add_straggler(trouble, "3:2.5");
  add_straggler(trouble, "99:7");
  EXPECT_EQ(slowdowns(trouble, 5), (std::vector<float>{1, 1, 1, 2.5, 1}));
  add_straggler(trouble, "normal:0.1:7");
  const std::vector<float> factors = slowdowns(trouble, 20000);
  double sum = 0;
  for (const float factor : factors) {
    EXPECT_GE(factor, 1);
    sum += static_cast<double>(factor) - 1;
  }
  EXPECT_NEAR(sum / 20000, 0.0798, 0.003);  // 0.1 times the root of 2/pi
  EXPECT_EQ(factors, slowdowns(trouble, 20000));
}

TEST(Trouble, HasThoseWhoRemainWhenAHostIsLost) {
  Trouble trouble;
  trouble.lost_host = 1;
  Setting setting = alone(18);
  setting.network.ranks_per_host = 4;
  const Contest contest = hold(setting, {.operation = Operation::all_reduce, .bytes = 4096}, trouble);
  ASSERT_TRUE(contest.remainder);
  EXPECT_EQ(contest.remainder->ranks, 14U);
  EXPECT_EQ(contest.remainder->hosts, 4U);
  EXPECT_GT(contest.remainder->chosen.figure.ns, 0);
  trouble.lost_host = 4;  // the last one, of two ranks
  EXPECT_EQ(hold(setting, contest.call, trouble).remainder->ranks, 16U);
  trouble.lost_host = 5;
  EXPECT_THROW(hold(setting, contest.call, trouble), UsageError);
}

TEST(Network, KeepsItsRacksWhenAHostIsLost) {
  const Network network{.ranks = 6, .ranks_per_host = 2, .hosts_per_rack = 2, .lost_host = 1};
  EXPECT_EQ(network.host(2), 2U);
  EXPECT_EQ(network.rack(1), 0U);
  EXPECT_EQ(network.rack(2), 1U);
  EXPECT_EQ(network.racks(), 2U);
  EXPECT_EQ(network.host_of_each(), (std::vector<std::uint32_t>{0, 0, 2, 2, 3, 3}));
}

const std::vector<const char*> words{"--ranks",     "8:32:x4", "--bytes", "8:1M:x8", "--per-host", "4",
                                     "--straggler", "5:2",     "--lose",  "0",       "--all"};

TEST(Reports, TellTheSame) {
  const Study study = study_of(words);
  const nlohmann::json json = nlohmann::json::parse(json_of(study));
  EXPECT_EQ(json["schema"], "parley-sim/1");
  ASSERT_EQ(json["contests"].size(), study.contests.size());
  const std::string tables = tables_of(study), page = page_of(study);
  for (std::size_t i = 0; i < study.contests.size(); ++i) {
    const Contest& contest = study.contests[i];
    EXPECT_EQ(json["contests"][i]["fastest"], schedule::name(contest.fastest().candidate.algorithm));
    EXPECT_EQ(json["contests"][i]["host_lost"]["ranks"], contest.network.ranks - 4);
    const std::string time = format_ns(contest.taken().figure.ns);
    EXPECT_NE(tables.find(time), std::string::npos) << time;
    EXPECT_NE(page.find(time), std::string::npos) << time;
  }
}

TEST(Reports, DrawACurveForEachAlgorithmAndTheBound) {
  const Study study = study_of(words);
  const auto contests = by_ranks(study).front();
  const std::string chart = standalone_chart_of(contests);
  for (const Entrant& entrant : contests.front().entrants)
    EXPECT_NE(
        chart.find("class=\"a-" + std::string(schedule::name(entrant.candidate.algorithm)) + "\"><polyline"),
        std::string::npos);
  EXPECT_NE(chart.find("class=\"a-bound\"><polyline"), std::string::npos);
  EXPECT_EQ(chart.find("nan"), std::string::npos);
}

TEST(Reports, TellWhichIsTheFastestWhere) {
  std::vector<Contest> contests;
  for (const auto& [bytes, algorithm] : {std::pair<std::uint64_t, Algorithm>{8, Algorithm::bruck},
                                         {16, Algorithm::ring},
                                         {32, Algorithm::ring}}) {
    Contest one;
    one.call.bytes = bytes;
    one.entrants.push_back({{algorithm}, {1}, std::nullopt});
    contests.push_back(one);
  }
  EXPECT_EQ(winners_text(contests), "bruck 8 B, ring 16 B to 32 B");
}

TEST(Reports, MarkWhatIsNotExact) {
  EXPECT_EQ(figure_text({1500, Accuracy::exact}), "1.50 us");
  EXPECT_EQ(figure_text({1500, Accuracy::evened}), "~1.50 us");
  EXPECT_EQ(figure_text({1500, Accuracy::promised}), "<1.50 us");
  EXPECT_EQ(marks_text(study_of({"--ranks", "4", "--bytes", "64"})), "");
  EXPECT_NE(marks_text(study_of({"--ranks", "24", "--bytes", "64", "--most-steps", "20"})).find("promises"),
            std::string::npos);
}

}  // namespace
}  // namespace parley::sim
