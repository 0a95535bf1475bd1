#include "bench/options.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace parley::bench {
namespace {

ParsedOptions parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "parley-bench");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, DefaultsOfEachOperation) {
  const ParsedOptions latency = parse({"latency"});
  ASSERT_TRUE(latency.options);
  EXPECT_EQ(latency.options->op, Op::latency);
  EXPECT_EQ(latency.options->transport, "tcp");
  EXPECT_EQ(latency.options->sizes, (std::vector<std::size_t>{8, 1024, 65536, 1048576}));
  EXPECT_FALSE(latency.options->ranks);
  EXPECT_FALSE(latency.options->pin);
  EXPECT_TRUE(latency.options->json_file.empty());
  const ParsedOptions rate = parse({"message-rate"});
  ASSERT_TRUE(rate.options);
  EXPECT_EQ(rate.options->op, Op::message_rate);
  EXPECT_EQ(rate.options->sizes, (std::vector<std::size_t>{8}));
}

TEST(Options, EverythingGiven) {
  const ParsedOptions parsed = parse({"bandwidth", "--ranks", "4", "--transport", "tcp", "--sizes", "8:32",
                                      "--json", "rows.json", "--rounds", "3", "--round-ms", "2.5", "--pin"});
  ASSERT_TRUE(parsed.options);
  EXPECT_EQ(parsed.options->op, Op::bandwidth);
  EXPECT_EQ(parsed.options->ranks, 4);
  EXPECT_EQ(parsed.options->sizes, (std::vector<std::size_t>{8, 16, 32}));
  EXPECT_EQ(parsed.options->json_file, "rows.json");
  EXPECT_EQ(parsed.options->rounds, 3);
  EXPECT_EQ(parsed.options->round_ms, 2.5);
  EXPECT_EQ(parsed.options->pin, true);
}

TEST(Options, PinningCanBeRefused) {
  const ParsedOptions parsed = parse({"latency", "--no-pin"});
  ASSERT_TRUE(parsed.options);
  EXPECT_EQ(parsed.options->pin, false);
}

TEST(Options, MistakesEndWithAnErrorCode) {
  for (const std::vector<const char*>& arguments :
       std::vector<std::vector<const char*>>{{},
                                             {"speed"},
                                             {"latency", "--ranks", "3"},
                                             {"latency", "--ranks", "0"},
                                             {"latency", "--transport", "pigeon"},
                                             {"latency", "--sizes", "8Q"},
                                             {"latency", "--rounds", "0"},
                                             {"latency", "--colour"}}) {
    const ParsedOptions parsed = parse(arguments);
    EXPECT_FALSE(parsed.options);
    EXPECT_NE(parsed.exit_code, 0);
  }
}

TEST(Options, HelpIsNoError) {
  const ParsedOptions parsed = parse({"--help"});
  EXPECT_FALSE(parsed.options);
  EXPECT_EQ(parsed.exit_code, 0);
}

TEST(Options, RanksComeInPairs) {
  EXPECT_NO_THROW(check_ranks(2));
  EXPECT_NO_THROW(check_ranks(4));
  EXPECT_THROW(check_ranks(-2), std::invalid_argument);
  EXPECT_THROW(check_ranks(5), std::invalid_argument);
}

}  // namespace
}  // namespace parley::bench
