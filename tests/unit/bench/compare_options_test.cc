#include "bench/compare/compare_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "bench/compare/manual.h"
#include "bench/op.h"
#include "bench/options.h"
#include "tests/unit/bench/mistake.h"

namespace parley::bench::compare {
namespace {

// Words between single blanks.
CompareOptions parse(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  const auto options = parse_compare_options(words);
  EXPECT_TRUE(options);
  return options.value_or(CompareOptions{});
}

std::string refusal(const std::string& line) {
  return mistake_of([&] { parse(line); });
}

TEST(CompareOptions, UnderstandsLists) {
  const CompareOptions options =
      parse("--ops latency,all_reduce,latency --ranks 2,8 --transport tcp --buffers rewritten --sizes 8,1K");
  EXPECT_EQ(options.ops, (std::vector<std::string>{"latency", "all_reduce"}));
  EXPECT_EQ(options.ranks, (std::vector<int>{2, 8}));
  EXPECT_EQ(options.transports, (std::vector<std::string>{"tcp"}));
  EXPECT_EQ(options.rewritten, (std::vector<bool>{true}));
  EXPECT_EQ(options.sizes, (std::vector<std::size_t>{8, 1024}));
  EXPECT_EQ(cases_of(options).size(), 4U);
}

TEST(CompareOptions, UnderstandsPeers) {
  EXPECT_FALSE(parse("").peers);
  EXPECT_TRUE(parse("").raw);
  const CompareOptions some = parse("--peers mpich,raw");
  EXPECT_EQ(some.peers, (std::vector<std::string>{"mpich"}));
  EXPECT_TRUE(some.raw);
  EXPECT_FALSE(parse("--peers mpich").raw);
  const CompareOptions own = parse("--peer before=/a/parley-bench --peer x=y=z");
  ASSERT_EQ(own.programs.size(), 2U);
  EXPECT_EQ(own.programs[0].first, "before");
  EXPECT_EQ(own.programs[0].second, "/a/parley-bench");
  EXPECT_EQ(own.programs[1].second, "y=z");
}

TEST(CompareOptions, UnderstandsVerdictsAndTime) {
  const CompareOptions options =
      parse("--compare base --tolerance 25 --at-most 3.5 --minutes 2 --rounds 4 --quiet");
  EXPECT_EQ(options.base_file, "base");
  EXPECT_DOUBLE_EQ(options.tolerance, 0.25);
  EXPECT_EQ(options.at_most, 3.5);
  EXPECT_EQ(options.minutes, 2);
  EXPECT_EQ(options.rounds, 4);
  EXPECT_TRUE(options.quiet);
}

TEST(CompareOptions, SaysWhatIsWrong) {
  EXPECT_NE(refusal("--ops latncy").find("did you mean latency?"), std::string::npos);
  EXPECT_NE(refusal("--ranks 1").find("--ranks '1'"), std::string::npos);
  EXPECT_NE(refusal("--sizes 0").find("--sizes: "), std::string::npos);
  EXPECT_NE(refusal("--peer before").find("NAME=PROGRAM"), std::string::npos);
  EXPECT_NE(refusal("--peer parley=x").find("parley is what peers are compared with"), std::string::npos);
  EXPECT_NE(refusal("--minutes soon").find("--minutes 'soon'"), std::string::npos);
  EXPECT_NE(refusal("--colour"), "");
  EXPECT_NE(refusal("latency"), "");
  EXPECT_NE(refusal("--rounds"), "");
}

TEST(CompareOptions, APeerThatIsAskedForMustBeThere) {
  CompareOptions options = parse("--peers openmpi");
  options.parley = "/bin/true";
  try {
    contenders_of(options, "/nowhere/parley-bench");
    FAIL();
  } catch (const CommandLineError& error) {
    EXPECT_EQ(std::string(error.what()).find("there is no /nowhere/peer-openmpi: "), 0U) << error.what();
  }
  options.peers.reset();
  EXPECT_EQ(contenders_of(options, "/nowhere/parley-bench").size(), 1U);
  options.programs.emplace_back("other", "/bin/false");
  EXPECT_EQ(contenders_of(options, "/nowhere/parley-bench")[1].name, "other");
  options.parley = "/nowhere/parley-bench";
  EXPECT_THROW(contenders_of(options, "/nowhere/parley-bench"), CommandLineError);
}

TEST(CompareOptions, TwoPeersHaveTwoNames) {
  CompareOptions options = parse("--peer other=/bin/true --peer other=/bin/false");
  options.parley = "/bin/true";
  const std::string words = mistake_of([&] { contenders_of(options, "/nowhere/parley-bench"); });
  EXPECT_EQ(words, "--peer other=/bin/false: there is a peer other already; give this one another name");
}

TEST(CompareOptions, ABarrierHasNoBuffersToWrite) {
  EXPECT_EQ(cases_of(parse("--ops barrier")).size(), 2U);
  for (const Case& where : cases_of(parse("--ops all_reduce,barrier --arena")))
    EXPECT_EQ(where.arena, where.op == "all_reduce" && where.transport == "shm") << title_of(where);
}

TEST(CompareManual, NamesEveryOption) {
  const std::string page(compare_manual());
  for (const std::string& name : compare_option_names())
    EXPECT_NE(page.find("\n    " + name + " "), std::string::npos) << name;
  for (const std::string_view op : operation_names()) EXPECT_NE(page.find(op), std::string::npos) << op;
}

TEST(BenchManual, NamesEveryOperationOfParley) {
  const std::string page(bench_manual());
  for (const auto& each : bench::operations) {
    const bool has_own_line = has_limit(each.op);
    EXPECT_NE(page.find((has_own_line ? "\n    " : "") + std::string(each.name)), std::string::npos)
        << each.name;
  }
}

TEST(CompareManual, HasTheSectionsOfAManualPage) {
  for (const std::string_view page : {bench_manual(), compare_manual()}) {
    for (const char* heading :
         {"NAME\n", "\nSYNOPSIS\n", "\nDESCRIPTION\n", "\nOPTIONS\n", "\nEXIT STATUS\n", "\nEXAMPLES\n"})
      EXPECT_NE(page.find(heading), std::string::npos) << heading;
  }
}

TEST(CompareManual, FitsATerminalAndNamesTheExitStatusOfASignal) {
  constexpr std::size_t columns = 120;
  for (const std::string_view page : {bench_manual(), compare_manual()}) {
    std::istringstream lines{std::string(page)};
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns) << line;
    EXPECT_NE(page.find("\n    128+N   ended by signal N", page.find("EXIT STATUS")), std::string_view::npos);
  }
}

}  // namespace
}  // namespace parley::bench::compare
