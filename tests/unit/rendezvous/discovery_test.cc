#include "rendezvous/discovery.h"

#include <gtest/gtest.h>
#include <parley/error.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/rendezvous/pretended.h"

namespace parley::rendezvous {
namespace {

std::string error_of(const std::string& method, const Variables& variables = {}, int rank = -1,
                     int world_size = -1) {
  try {
    discover(method, rank, world_size, pretend(variables));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

const Variables complete = {
    {"MASTER_ADDR", "node-a"}, {"MASTER_PORT", "29500"}, {"RANK", "2"}, {"WORLD_SIZE", "4"}};

TEST(Discovery, NothingAtAllIsAWorldOfOne) {
  const Place place = place_of({});
  EXPECT_TRUE(place.alone);
  EXPECT_EQ(place.rank, 0);
  EXPECT_EQ(place.world_size, 1);
}

TEST(Discovery, ReadsTheEnvironment) {
  const Place place = place_of(complete);
  EXPECT_FALSE(place.alone);
  EXPECT_EQ(place.rank, 2);
  EXPECT_EQ(place.world_size, 4);
  EXPECT_EQ(place.store_host, "node-a");
  EXPECT_EQ(place.store_port, 29500);
  EXPECT_FALSE(place.serves_store);
}

TEST(Discovery, ReadsTheLocalRankIfThereIsOne) {
  auto variables = complete;
  EXPECT_EQ(place_of(variables).local_rank, -1);
  variables["LOCAL_RANK"] = "1";
  EXPECT_EQ(place_of(variables).local_rank, 1);
  variables["LOCAL_RANK"] = "4";
  EXPECT_EQ(error_of("env://", variables), "LOCAL_RANK must be 0 to 3, not 4");
  variables["LOCAL_RANK"] = "one";
  EXPECT_NE(error_of("env://", variables).find("LOCAL_RANK"), std::string::npos);
}

TEST(Discovery, WhatIsGivenWins) {
  const Place place = place_of(complete, 0, 3);
  EXPECT_EQ(place.rank, 0);
  EXPECT_EQ(place.world_size, 3);
  EXPECT_TRUE(place.serves_store);
}

TEST(Discovery, RankZeroServesTheStoreUnlessTheLauncherDoes) {
  auto values = complete;
  values["RANK"] = "0";
  EXPECT_TRUE(place_of(values).serves_store);
  values["PARLEY_STORE"] = "launcher";
  EXPECT_FALSE(place_of(values).serves_store);
}

TEST(Discovery, EachMissingVariableIsNamed) {
  for (const auto& [missing, value] : complete) {
    auto values = complete;
    values.erase(missing);
    EXPECT_NE(error_of("env://", values).find("not set: " + missing), std::string::npos)
        << error_of("env://", values);
  }
  EXPECT_NE(error_of("env://", {{"RANK", "1"}}).find("not set: MASTER_ADDR, MASTER_PORT, WORLD_SIZE"),
            std::string::npos);
}

TEST(Discovery, MalformedVariablesAreNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"RANK", "two"}, {"RANK", "4"}, {"RANK", "-1"}, {"WORLD_SIZE", "0"}, {"MASTER_PORT", "70000"}};
  for (const auto& [name, value] : cases) {
    auto values = complete;
    values[name] = value;
    EXPECT_NE(error_of("env://", values), "no error") << name << "=" << value;
  }
}

// 2^32 and its neighbours look harmless once they are cut to 32 bits.
TEST(Discovery, NumbersBeyond32BitsAreRefusedAsTheyAre) {
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {"RANK", "4294967297", "rank 4294967297 is out of range: valid ranks are 0 to 3"},
      {"RANK", "-4294967295", "rank -4294967295 is out of range: valid ranks are 0 to 3"},
      {"WORLD_SIZE", "4294967300", "world size must be 1 to 2147483647, not 4294967300"},
      {"WORLD_SIZE", "-1", "world size must be 1 to 2147483647, not -1"},
      {"LOCAL_RANK", "4294967296", "LOCAL_RANK must be 0 to 3, not 4294967296"}};
  for (const auto& [name, value, text] : cases) {
    auto values = complete;
    values[name] = value;
    EXPECT_NE(error_of("env://", values).find(text), std::string::npos) << error_of("env://", values);
  }
  EXPECT_EQ(
      error_of("tcp://host:1?rank=4294967296&world_size=2"),
      "tcp://host:1?rank=4294967296&world_size=2: rank 4294967296 is out of range: valid ranks are 0 to 1");
  EXPECT_EQ(error_of("tcp://host:1?rank=0&world_size=4294967298"),
            "tcp://host:1?rank=0&world_size=4294967298: world size must be 1 to 2147483647, not 4294967298");
}

TEST(Discovery, TheWorldSizeIsCheckedBeforeTheLocalRankInIt) {
  auto values = complete;
  values["LOCAL_RANK"] = "1";
  values["WORLD_SIZE"] = "0";
  EXPECT_EQ(error_of("env://", values), "env://: world size must be 1 to 2147483647, not 0");
}

TEST(Discovery, SaysWhatAPortIs) {
  auto values = complete;
  for (const std::string port : {"x", "0", "65536", "-1", "99999999999999999999"}) {
    values["MASTER_PORT"] = port;
    EXPECT_EQ(error_of("env://", values),
              "MASTER_PORT: a port is a number from 1 to 65535, not '" + port + "'");
    const std::string url = "tcp://host:" + port;
    EXPECT_EQ(error_of(url), url + ": a port is a number from 1 to 65535, not '" + port + "'");
  }
}

TEST(Discovery, ReadsAUrl) {
  const Place place = discover("tcp://127.0.0.1:4242?world_size=3&rank=0", -1, -1, pretend({}));
  EXPECT_EQ(place.store_host, "127.0.0.1");
  EXPECT_EQ(place.store_port, 4242);
  EXPECT_EQ(place.rank, 0);
  EXPECT_EQ(place.world_size, 3);
  EXPECT_TRUE(place.serves_store);
  EXPECT_EQ(discover("tcp://[::1]:1?rank=1&world_size=2", -1, -1).store_host, "::1");
  EXPECT_EQ(discover("tcp://host:1", 1, 2).rank, 1);
}

TEST(Discovery, ReadsAMasterInBrackets) {
  auto values = complete;
  for (const char* address : {"::1", "[::1]"}) {
    values["MASTER_ADDR"] = address;
    EXPECT_EQ(place_of(values).store_host, "::1") << address;
  }
}

TEST(Discovery, MalformedUrlsAreRefused) {
  for (const char* url :
       {"tcp://host?rank=0&world_size=1", "tcp://:1?rank=0&world_size=1", "tcp://[]:1?rank=0&world_size=1",
        "tcp://[::1]?rank=0", "tcp://host:x?rank=0&world_size=1", "tcp://host:0?rank=0&world_size=1",
        "tcp://host:1?rank=0&world_size=0", "tcp://host:1?rank=2&world_size=2",
        "tcp://host:1?rank=a&world_size=2", "tcp://host:1?rank=-1&world_size=2", "tcp://host:1?size=2",
        "tcp://host:1?rank", "udp://x"})
    EXPECT_NE(error_of(url), "no error") << url;
  EXPECT_NE(error_of("tcp://host:1").find("missing parameters: rank, world_size"), std::string::npos);
}

}  // namespace
}  // namespace parley::rendezvous
