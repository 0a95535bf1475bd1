#include "api/launch/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace parley::launch {
namespace {

TEST(RankEnvironment, HoldsWhatInitReads) {
  const Environment environment = rank_environment(2, 4, {"127.0.0.1", 4711, "s3cret"}, {{"EXTRA", "a=b"}});
  const Environment expected{{"RANK", "2"},
                             {"WORLD_SIZE", "4"},
                             {"LOCAL_RANK", "2"},
                             {"LOCAL_WORLD_SIZE", "4"},
                             {"EXTRA", "a=b"},
                             {"MASTER_ADDR", "127.0.0.1"},
                             {"MASTER_PORT", "4711"},
                             {"PARLEY_SECRET", "s3cret"},
                             {"PARLEY_STORE", "launcher"}};
  EXPECT_EQ(environment, expected);
}

TEST(RankEnvironment, TheLauncherWinsOverExtraVariables) {
  const Environment environment = rank_environment(1, 2, {"127.0.0.1", 1, "s"}, {{"RANK", "7"}});
  EXPECT_EQ(environment.at("RANK"), "1");
}

TEST(RankEnvironment, WhatTheLauncherSetsIsNobodyElsesToSet) {
  for (const std::string name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR",
                                 "MASTER_PORT", "PARLEY_SECRET", "PARLEY_STORE", "PARLEY_SPAWN"})
    EXPECT_EQ(complaint_about(name), "the launcher itself sets " + name + " for every rank");
  for (const std::string name : {"PARLEY_TLS", "PARLEY_AUTH", "PARLEY_SECRET_FILE"})
    EXPECT_EQ(complaint_about(name),
              name + " counts for the launcher's store, too: set it for parley-run itself");
  for (const char* name : {"EXTRA", "rank", "PARLEY_DEBUG", "RANK_", ""})
    EXPECT_EQ(complaint_about(name).has_value(), *name == '\0') << name;
  EXPECT_EQ(complaint_about("A=B"), "'A=B' cannot be the name of a variable");
}

TEST(EnvironmentCode, ReturnsWhatWentIn) {
  const Environment environment{{"A", ""}, {"B", "x=y=z"}, {"C", "two\nlines"}};
  EXPECT_EQ(decode(encode(environment)), environment);
  EXPECT_EQ(decode(encode({})), Environment{});
}

TEST(EnvironmentCode, RefusesEveryIncompleteText) {
  const std::string text = encode({{"A", "1"}, {"B", "2"}});
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(decode(std::string_view(text).substr(0, size)).has_value()) << size;
}

TEST(EnvironmentCode, RefusesAnEntryWithoutAName) {
  EXPECT_FALSE(decode(std::string_view("novalue\0\0", 9)).has_value());
}

TEST(EnvironmentApply, SetsAndReplaces) {
  ::setenv("PARLEY_LAUNCH_TEST_A", "old", 1);
  apply({{"PARLEY_LAUNCH_TEST_A", "new"}, {"PARLEY_LAUNCH_TEST_B", "b"}});
  EXPECT_STREQ(std::getenv("PARLEY_LAUNCH_TEST_A"), "new");
  EXPECT_STREQ(std::getenv("PARLEY_LAUNCH_TEST_B"), "b");
}

}  // namespace
}  // namespace parley::launch
