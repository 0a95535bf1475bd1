// What comparisons write: tables, CSV, JSON, charts and pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/compare/chart.h"
#include "bench/compare/colours.h"
#include "bench/compare/overview.h"
#include "bench/compare/page.h"
#include "bench/compare/rows.h"
#include "bench/compare/summary.h"
#include "bench/compare/terminal_plot.h"
#include "bench/compare/text_table.h"
#include "bench/row.h"
#include "tests/unit/bench/compare_samples.h"
#include "tests/unit/bench/ill_formed.h"
#include "tools/figures/axis.h"
#include "tools/figures/markup.h"

namespace parley::bench::compare {
namespace {

using namespace figures;  // NOLINT(google-build-using-namespace): what their tests are of

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(CompareTable, HasABlockForEachCaseAndSaysWhatIsMissing) {
  const std::string text = tables_of(example_study());
  EXPECT_TRUE(has(text, "== latency: us, "));
  EXPECT_TRUE(has(text, "\nshm, 2 ranks, buffers kept\n"));
  EXPECT_TRUE(has(text, "0.66 [0.6"));
  EXPECT_TRUE(has(text, "# mpich failed (2 times): it said <nothing> & ended\n"));
  EXPECT_TRUE(has(text, "# mpich does not do this: cannot do that\n"));
  for (const char letter : text)
    EXPECT_TRUE(std::isprint(static_cast<unsigned char>(letter)) || letter == '\n');
}

TEST(CompareSummary, HasARowForEachOperationAndAColumnForEachSize) {
  const std::string text = summary_of(example_study());
  EXPECT_TRUE(
      has(text, "\n| shm, 2 ranks, buffers kept | 8 | 1K | 64K |\n|---|---|---|---|\n| latency | 0.66, 0."));
  EXPECT_TRUE(
      has(text, "\n| tcp, 2 ranks, buffers kept | 8 | 1K | 64K |\n|---|---|---|---|\n| bandwidth | 0."));
}

TEST(CompareSummary, ShowsNoFigureThatIsNotToBeUsed) {
  Study study = example_study();
  for (Line& line : study.lines) line.disturbed = line.bytes == 8;
  study.lines.back().to_peer->bounds.reset();
  const std::string text = summary_of(study);
  EXPECT_TRUE(has(text, "| latency | - | 0."));
  EXPECT_TRUE(has(text, ", ? |\n"));
}

TEST(CompareSummary, MarksMixedFiguresAndSaysOnceWhatThatMeans) {
  Study study = example_study();
  const std::string legend = "\n~ MIXED: ";
  EXPECT_FALSE(has(summary_of(study), "~"));
  for (Line& line : study.lines) {
    if (line.bytes != 1024) line.mode = Mode::mixed;
    line.disturbed = line.bytes == 8;
  }
  const std::string text = summary_of(study);
  EXPECT_EQ(text.find(legend), text.rfind(legend));
  const std::size_t row = text.find("| latency | - | 0.");
  ASSERT_NE(row, std::string::npos) << text;
  EXPECT_TRUE(text.substr(row, text.find('\n', row) - row).ends_with(" ~ |")) << text;
  // A disturbed line has no ratio to mark, and the middle one is of one place.
  EXPECT_EQ(std::count(text.begin(), text.end(), '~'), 3) << text;
}

TEST(CompareSummary, IsEmptyWithoutPeers) {
  Study study = example_study();
  for (Line& line : study.lines) line.to_peer.reset();
  EXPECT_EQ(summary_of(study), "");
}

TEST(CompareRows, AreOfTheSchemaWithSamples) {
  std::istringstream lines(json_rows_of(example_study()));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto row = nlohmann::json::parse(line);
    EXPECT_EQ(row["schema"], "parley-bench/1");
    EXPECT_EQ(row["samples_us"].size(), row["rounds"]);
    EXPECT_EQ(row["buffers"], "kept");
    EXPECT_EQ(row["time_to_best_peer"].is_null(), row["system"] != "parley");
    if (row["op"] == "bandwidth" && row["system"] == "parley") {
      EXPECT_NEAR(row["mb_per_s"].get<double>(), row["bytes"].get<double>() / row["median_us"].get<double>(),
                  0.1);
      // Rates in the old field, times in the new one.
      EXPECT_GT(row["ratio_to_best_peer"], 1);
      EXPECT_LT(row["time_to_best_peer"][0], 1);
    }
  }
  EXPECT_EQ(count, 2 * 3 * 3);
}

std::vector<std::string> names_in(const std::string& json_row) {
  std::vector<std::string> names;
  const auto row = nlohmann::ordered_json::parse(json_row);
  for (const auto& [name, value] : row.items()) names.push_back(name);
  return names;
}

TEST(CompareRows, BeginWithAllFieldsOfASingleOperationInTheirOrder) {
  const std::vector<std::string> single = names_in(to_json(Row{}));
  std::istringstream lines(json_rows_of(example_study()));
  std::ostringstream header;
  for (const std::string& name : single) header << name << ',';
  EXPECT_TRUE(csv_of(example_study()).starts_with(header.str())) << header.str();
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> names = names_in(line);
    ASSERT_GE(names.size(), single.size());
    names.resize(single.size());
    EXPECT_EQ(names, single);
  }
}

TEST(CompareRows, TellOfACollectiveWhatItsRowsTell) {
  std::vector<Sample> samples;
  add(samples, "parley", {2, 2, 2}, {"all_reduce", "shm", 4, false}, 4000);
  for (Sample& sample : samples) {
    sample.p999_us = 7 + sample.round;
    sample.core_share = 0.97 + 0.01 * sample.round;
    sample.wrong = 1;
  }
  Study study;
  study.lines = judge(samples);
  const auto row = nlohmann::json::parse(json_rows_of(study));
  EXPECT_EQ(row["p999_us"], 8);
  EXPECT_EQ(row["core_share"], 0.97);
  EXPECT_EQ(row["wrong"], 3);
  EXPECT_EQ(row["alg_mb_per_s"], 2000);
  EXPECT_EQ(row["bus_mb_per_s"], 3000);
}

TEST(CompareCsv, HasOneFieldForEachColumn) {
  Study study = example_study();
  study.lines[0].entries[0].void_reason = "a \"reason\", with a comma";
  const std::string text = csv_of(study);
  EXPECT_TRUE(has(text, ",\"a \"\"reason\"\", with a comma\","));
  std::istringstream lines(text);
  std::string header;
  std::getline(lines, header);
  EXPECT_TRUE(header.ends_with("time_to_limit,time_to_limit_lo,time_to_limit_hi\r"));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    int commas = 0;
    bool quoted = false;
    for (const char letter : line) {
      if (letter == '"') quoted = !quoted;
      if (letter == ',' && !quoted) ++commas;
    }
    EXPECT_EQ(commas, std::count(header.begin(), header.end(), ',')) << line;
    EXPECT_TRUE(line.ends_with('\r'));
  }
  EXPECT_EQ(count, 18);
}

TEST(CompareMarkup, EscapesWhatHasAMeaning) {
  EXPECT_EQ(escape("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
  EXPECT_EQ(colour_class("mpich"), "c-mpich");
  EXPECT_EQ(colour_class("before"), "c-other");
}

TEST(CompareChart, IsWellFormedAndNamesItsCurves) {
  const Study study = example_study();
  for (const CaseView& view : views_of(study)) {
    const std::string svg = standalone_chart_of(view);
    EXPECT_EQ(ill_formed(svg), "");
    for (const char* part :
         {">parley</text>", ">openmpi</text>", ">raw</text>", "x best peer", ">32K</text>"})
      EXPECT_TRUE(has(svg, part)) << part;
    EXPECT_FALSE(has(svg, "nan"));
    EXPECT_FALSE(has(svg, "inf\""));
  }
}

TEST(CompareChart, OfASingleSizeOrOfNothingIsFine) {
  std::vector<Sample> samples;
  add(samples, "parley", {1, 1, 1}, {"barrier", "shm", 2, false}, 0);
  Study study;
  study.lines = judge(samples);
  const std::string svg = standalone_chart_of(views_of(study)[0]);
  EXPECT_EQ(ill_formed(svg), "");
  EXPECT_FALSE(has(svg, "nan"));
  study.lines.clear();
  study.notes = {{"mpich", latency_over_shm, "nothing", true, 1}};
  EXPECT_EQ(chart_of(views_of(study)[0]), "");
  EXPECT_EQ(ill_formed(page_of(study)), "");
}

TEST(ComparePage, IsOneWellFormedDocumentThatNeedsNothingElse) {
  const std::string page = page_of(example_study());
  EXPECT_EQ(ill_formed(page), "");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  for (const char* part :
       {"A &lt;fast&gt; &amp; &quot;good&quot; one", "peer-openmpi latency", "id=\"latency-shm-2-kept\"",
        "prefers-color-scheme: dark", "--peer &quot;a=&lt;b&gt;&amp;c&quot;", "2026-01-02"})
    EXPECT_TRUE(has(page, part)) << part;
  for (const char* part : {"<script", "<link", "http:", "https:", "url(", "@import", "src="})
    EXPECT_FALSE(has(page, part)) << part;
}

TEST(CompareAxis, TicksArePowersOfTwo) {
  EXPECT_EQ(power_ticks(8, 4096, 8), (std::vector<std::size_t>{8, 32, 128, 512, 2048}));
  EXPECT_EQ(power_ticks(8, 16 << 20, 7),
            (std::vector<std::size_t>{8, 64, 512, 4096, 32768, 262144, 2097152, 16777216}));
  EXPECT_EQ(power_ticks(100, 1000, 8), (std::vector<std::size_t>{128, 256, 512}));
  EXPECT_TRUE(power_ticks(100, 101, 8).empty());
}

TEST(CompareAxis, TicksOfFiguresHaveUnitsOfTheirSize) {
  EXPECT_EQ(decimal_ticks({0.9, 12}), (std::vector<double>{1, 2, 5, 10}));
  EXPECT_EQ(decimal_ticks({0.5, 5000}), (std::vector<double>{1, 10, 100, 1000}));
  EXPECT_EQ(ratio_ticks({0.4, 2.1}), (std::vector<double>{0.5, 1, 2}));
  EXPECT_EQ(ratio_ticks({0.75, 1.45}), (std::vector<double>{0.8, 1, 1.25}));
  EXPECT_EQ(tick_label(Figure::time, 0.2), "200 ns");
  EXPECT_EQ(tick_label(Figure::time, 1000), "1 ms");
  EXPECT_EQ(tick_label(Figure::bandwidth, 5000), "5 GB/s");
  EXPECT_EQ(tick_label(Figure::rate, 0.5), "500 k/s");
}

TEST(CompareAxis, ScalesAreLogarithmic) {
  const LogScale scale(1, 100, 0, 200);
  EXPECT_DOUBLE_EQ(scale(10), 100);
  const Range range = range_of({});
  EXPECT_LT(range.least, range.most);
}

TEST(CompareFigures, HaveThreeDigits) {
  EXPECT_EQ(format_figure(0.2134), "0.213");
  EXPECT_EQ(format_figure(5.618), "5.62");
  EXPECT_EQ(format_figure(9.999), "10.0");
  EXPECT_EQ(format_figure(18.44), "18.4");
  EXPECT_EQ(format_figure(10523.4), "10523");
}

TEST(CompareTerminalPlot, IsPlainWhereTheTerminalIs) {
  const Study study = example_study();
  const std::string plot = terminal_plot(views_of(study)[0], {false, false});
  for (const char letter : plot)
    EXPECT_TRUE(std::isprint(static_cast<unsigned char>(letter)) || letter == '\n');
  EXPECT_TRUE(has(plot, " P parley\n"));
  EXPECT_TRUE(has(plot, " O openmpi\n"));
  EXPECT_TRUE(has(plot, "1 us |"));
  EXPECT_TRUE(has(plot, " bytes\n"));
}

TEST(CompareTerminalPlot, HasBrailleAndColoursWhereItCan) {
  const Study study = example_study();
  const std::string plot = terminal_plot(views_of(study)[0], {true, true});
  EXPECT_TRUE(has(plot, "\xE2\xA0") || has(plot, "\xE2\xA1") || has(plot, "\xE2\xA2"));
  EXPECT_TRUE(has(plot, "\033[91mparley\033[0m"));
}

TEST(CompareOverview, HasAPlotAndAVerdictForEachCase) {
  const std::string text = overview_text(example_study(), {false, false});
  EXPECT_TRUE(has(text, "latency, shm, 2 ranks, buffers kept\n"));
  EXPECT_TRUE(has(text, "bandwidth, tcp, 2 ranks, buffers kept\n"));
  EXPECT_TRUE(has(text, "  Parley: 1.00 us at 8 B, 7.55 us at 64 KiB\n"));
  EXPECT_TRUE(has(text, "0.66 times the best peer's time (median of 3 lines), faster in 3, slower in 0"));
}

}  // namespace
}  // namespace parley::bench::compare
