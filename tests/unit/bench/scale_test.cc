// By which law costs grow, what is promised of them, and what parley-bench scale tells of both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "bench/scale/chart.h"
#include "bench/scale/growth_plot.h"
#include "bench/scale/law.h"
#include "bench/scale/own_use.h"
#include "bench/scale/page.h"
#include "bench/scale/promise.h"
#include "bench/scale/report.h"
#include "bench/scale/scale_options.h"
#include "tests/unit/bench/ill_formed.h"
#include "tests/unit/bench/mistake.h"

namespace parley::bench::scale {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<double> usual_ranks{2, 4, 8, 16, 32, 64, 128};

template <typename Cost>
std::vector<Point> points(Cost&& cost) {
  std::vector<Point> points;
  for (const double ranks : usual_ranks) points.push_back({ranks, static_cast<double>(cost(ranks))});
  return points;
}

Law law_of(const std::vector<Point>& some) {
  return fit_growth(some).value().law;
}

TEST(ScaleLaw, TellsPureLaws) {
  EXPECT_EQ(law_of(points([](double) { return 40; })), Law::constant);
  EXPECT_EQ(law_of(points([](double n) { return 3 * std::log2(n); })), Law::logarithmic);
  EXPECT_EQ(law_of(points([](double n) { return 0.5 * n; })), Law::linear);
  EXPECT_EQ(law_of(points([](double n) { return 2 * n * std::log2(n); })), Law::worse);
  EXPECT_EQ(law_of(points([](double n) { return n * n / 8; })), Law::worse);
  EXPECT_EQ(law_of(points([](double n) { return n * n * n; })), Law::worse);
}

TEST(ScaleLaw, FindsTheNumbersOfALawWithABase) {
  const auto linear = fit_growth(points([](double n) { return 12 + 3 * n; }));
  ASSERT_TRUE(linear);
  EXPECT_EQ(linear->law, Law::linear);
  EXPECT_NEAR(linear->base, 12, 1e-6);
  EXPECT_NEAR(linear->step, 3, 1e-6);
  EXPECT_NEAR(linear->misfit, 0, 1e-6);
  const auto square = fit_growth(points([](double n) { return 5 + n * n / 10; }));
  ASSERT_TRUE(square);
  EXPECT_EQ(square->shape, "n^2");
  EXPECT_NEAR(square->step, 0.1, 1e-6);
  EXPECT_EQ(law_of(points([](double n) { return 100 + 20 * std::log2(n); })), Law::logarithmic);
}

// Relative errors with a standard deviation of a tenth, as figures of a machine have that others use, too.
TEST(ScaleLaw, IsNotMisledByNoise) {
  std::mt19937 random(11);
  std::normal_distribution<double> error(1, 0.1);
  const auto noisy = [&](auto&& cost) { return points([&](double n) { return cost(n) * error(random); }); };
  constexpr int trials = 200;
  constexpr int most_mistakes = trials / 20;
  int constant = 0, logarithmic = 0, linear = 0, square = 0;
  for (int i = 0; i < trials; ++i) {
    constant += law_of(noisy([](double) { return 70; })) == Law::constant;
    logarithmic += law_of(noisy([](double n) { return 4 * std::log2(n); })) == Law::logarithmic;
    linear += law_of(noisy([](double n) { return 8 + 2 * n; })) == Law::linear;
    square += law_of(noisy([](double n) { return 20 + n * n; })) == Law::worse;
  }
  for (const int right : {constant, logarithmic, linear, square}) EXPECT_GE(right, trials - most_mistakes);
}

// One figure out of seven that something else has delayed.
TEST(ScaleLaw, IsNotMisledByOneDelay) {
  auto delayed = points([](double n) { return 10 + n; });
  delayed[2].cost *= 1.5;
  EXPECT_EQ(law_of(delayed), Law::linear);
}

TEST(ScaleLaw, WhatFallsIsNoWorseThanConstant) {
  EXPECT_EQ(law_of(points([](double n) { return 100 / n; })), Law::constant);
}

TEST(ScaleLaw, NeedsFourPositivePoints) {
  EXPECT_FALSE(fit_growth({}));
  EXPECT_FALSE(fit_growth(std::vector<Point>{{2, 1}, {4, 2}, {8, 4}}));
  EXPECT_FALSE(fit_growth(std::vector<Point>{{2, 1}, {4, 2}, {8, 0}, {16, 8}}));
  EXPECT_TRUE(fit_growth(std::vector<Point>{{2, 1}, {4, 2}, {8, 4}, {16, 8}}));
}

TEST(ScaleLaw, IsToldInALine) {
  EXPECT_EQ(describe({Law::constant, "", 41.26, 0, 0.02}), "constant: 41.3, within 2 %");
  EXPECT_EQ(describe({Law::linear, "n", 3.1, 0.92, 0.04}), "linear: 3.1 + 0.92 n, within 4 %");
}

Figures some_figures() {
  Figures figures;
  for (const int ranks : {2, 4, 8, 16}) {
    figures[Quantity::start][ranks] = 10 + ranks;
    figures[Quantity::openmpi_start][ranks] = 20 + 2 * ranks;
    figures[Quantity::store][ranks] = 50'000;
    figures[Quantity::memory][ranks] = 900;
    figures[Quantity::poll_one][ranks] = 50;
    figures[Quantity::poll_all][ranks] = 50 + ranks;
  }
  figures[Quantity::openmpi_start].erase(16);
  return figures;
}

TEST(ScaleQuantity, OfRatesTheCostIsTheTimeOfOne) {
  const auto costs = points_of(Quantity::store, {{2, 50'000}});
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs.front().cost, 20);
  EXPECT_EQ(points_of(Quantity::memory, {{2, 50'000}}).front().cost, 50'000);
  EXPECT_EQ(figure(some_figures(), Quantity::start, 4), 14);
  EXPECT_FALSE(figure(some_figures(), Quantity::start, 5));
  EXPECT_FALSE(figure(some_figures(), Quantity::rate, 4));
}

TEST(ScaleReport, HasALineForEachNumberOfRanks) {
  ScaleOptions options;
  options.ranks = {2, 4, 8, 16};
  const std::string table = table_of(options, some_figures());
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 2 + 4) << table;
  EXPECT_THAT(table, AllOf(HasSubstr("Open MPI"), HasSubstr("op/s"), Not(HasSubstr("barrier"))));
  EXPECT_THAT(table, HasSubstr("\n     16       26        -    50000      900"));
}

TEST(ScaleReport, TellsLawsAndVerdicts) {
  const std::string laws = laws_of(some_figures());
  EXPECT_THAT(laws, HasSubstr("start               linear: 10 + 1 n, within 0 % (ms)\n"));
  EXPECT_THAT(laws, HasSubstr("openmpi_start       too few figures for a law\n"));
  EXPECT_THAT(laws, HasSubstr("store               constant: 20, within 0 % (us for one)\n"));
  const Figures wild{{Quantity::barrier, {{2, 1}, {4, 900}, {8, 2}, {16, 700}}}};
  EXPECT_THAT(laws_of(wild), HasSubstr("barrier             no law; the nearest is "));
  const std::string verdicts = verdicts_of(some_figures());
  EXPECT_THAT(verdicts, HasSubstr("start over Open MPI's: 2 ranks: 0.50, 4 ranks: 0.50, 8 ranks: 0.50\n"));
  EXPECT_THAT(verdicts, HasSubstr("16 ranks: 1.32\nmemory and descriptors are within"));
}

TEST(ScaleReport, DrawsCostsAsMultiples) {
  const std::string plot = growth_plot(some_figures());
  EXPECT_THAT(plot, AllOf(HasSubstr("1 x |*"), HasSubstr("16 ranks\n"), HasSubstr("A start  B openmpi_start"),
                          HasSubstr(". linear\n")));
  EXPECT_EQ(growth_plot({}), "");
  EXPECT_EQ(growth_plot({{Quantity::start, {{2, 1}}}}), "");
}

TEST(ScaleReport, DrawsEachUnitForItself) {
  const Figures figures = some_figures();
  std::vector<std::string_view> drawn;
  for (const Panel& panel : panels()) {
    if (!has_figures(panel, figures)) continue;
    drawn.push_back(panel.slug);
    const std::string svg = standalone_chart_of(panel, figures);
    EXPECT_EQ(ill_formed(svg), "") << panel.slug;
    EXPECT_THAT(svg, Not(HasSubstr("nan"))) << panel.slug;
  }
  EXPECT_THAT(drawn, ElementsAre("start", "store", "memory", "poll"));
  const std::string start = chart_of(panels().front(), figures);
  for (const char* part : {"Parley", "Open MPI", "Open MPI, 8 ranks: 36 ms", "linear: 10 + 1 n, within 0 %"})
    EXPECT_THAT(start, HasSubstr(part));
  const std::string memory = chart_of(panels()[3], figures);
  EXPECT_THAT(memory, HasSubstr("promised of linked to nobody"));
}

TEST(ScaleReport, DrawsASingleWorldToo) {
  const Figures figures{{Quantity::barrier, {{4, 3.5}}}};
  const std::string svg = standalone_chart_of(panels()[6], figures);
  EXPECT_EQ(ill_formed(svg), "");
  EXPECT_THAT(svg,
              AllOf(HasSubstr("barrier, 4 ranks: 3.5 µs"), Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
}

TEST(ScaleReport, APageHasChartsLawsTheTableAndTheCommand) {
  const ScaleOptions options{{2, 4, 8, 16}, {}, "tcp", 3, {}, {}, {}, true};
  const std::string page =
      page_of(options, some_figures(), {"parley-bench scale --html <x>", 2, "Open MPI ended & said nothing"});
  EXPECT_EQ(ill_formed(page), "");
  for (const char* part : {"2 to 16 ranks", "over tcp", "Parley: linear: 10 + 1 n", "<th>store, op/s</th>",
                           "<td>–</td>", "--html &lt;x&gt;", "Open MPI ended &amp; said nothing"})
    EXPECT_THAT(page, HasSubstr(part));
}

TEST(ScalePromise, IsBrokenByWhatGrowsFaster) {
  Figures figures = some_figures();
  EXPECT_TRUE(breaches_of(figures).empty());
  for (auto& [ranks, value] : figures[Quantity::memory]) value = 500.0 * ranks;
  EXPECT_THAT(breaches_of(figures),
              ElementsAre(HasSubstr("among 4: 2000 KiB"), HasSubstr("among 8: 4000 KiB"),
                          HasSubstr("memory of a rank among 16: 8000 KiB, and 1056 is promised")));
  EXPECT_THAT(verdicts_of(figures), HasSubstr("BEYOND THE PROMISE: memory of a rank among 16"));
}

TEST(ScaleOwnUse, IsThatOfThisProcess) {
  const OwnUse before = own_use();
  EXPECT_GT(before.memory_kib, 100);
  EXPECT_GE(before.descriptors, 3);
  const std::vector<char> more(8 << 20, 'x');
  EXPECT_GE(own_use().memory_kib, before.memory_kib + (7 << 10)) << more.back();
}

TEST(ScaleOptions, HaveDefaults) {
  const auto options = parse_scale_options({});
  ASSERT_TRUE(options);
  EXPECT_THAT(options->ranks, ElementsAre(2, 4, 8, 16, 32, 64, 128));
  EXPECT_EQ(options->stages.size(), 9U);
  EXPECT_EQ(options->transport, "shm");
}

TEST(ScaleOptions, SayWhatIsMeasured) {
  const auto options = parse_scale_options(
      {"--ranks", "8,2,8", "--what", "poll,memory", "--transport", "tcp", "--rounds", "1"});
  ASSERT_TRUE(options);
  EXPECT_THAT(options->ranks, ElementsAre(2, 8));
  EXPECT_THAT(options->stages, ElementsAre(Stage::memory, Stage::linked, Stage::poll));
  EXPECT_EQ(options->transport, "tcp");
  EXPECT_EQ(options->rounds, 1);
}

TEST(ScaleOptions, RefuseMistakes) {
  const auto mistake = [](const std::vector<std::string>& words) {
    return mistake_of([&] { (void)parse_scale_options(words); });
  };
  EXPECT_THAT(mistake({"--ranks", "1"}), HasSubstr("--ranks '1': write whole numbers from 2 to 1024"));
  EXPECT_THAT(mistake({"--what", "memry"}), HasSubstr("memory"));
  EXPECT_THAT(mistake({"--transport", "udp"}), HasSubstr("shm or tcp"));
  EXPECT_THAT(mistake({"--json", "/nowhere/rows"}), HasSubstr("cannot write"));
  EXPECT_THAT(mistake({"--html", "/nowhere/page"}), HasSubstr("--html: cannot write"));
  EXPECT_FALSE(parse_scale_options({"--ranks", "1", "--help"}));
  for (const char* option :
       {"--ranks", "--what", "--transport", "--rounds", "--json", "--html", "--svg", "--quiet"})
    EXPECT_THAT(std::string(scale_manual()), HasSubstr(option));
}

}  // namespace
}  // namespace parley::bench::scale
