#include "bench/row.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/table.h"

namespace parley::bench {
namespace {

const Subject ping{Op::latency, "tcp", 2, 8};
const Subject stream{Op::bandwidth, "tcp", 2, 1 << 20};

const std::vector<std::string> fields = {
    "schema",    "op",        "transport",      "ranks",    "bytes",          "system",
    "rounds",    "median_us", "p99_us",         "lo_us",    "hi_us",          "mb_per_s",
    "msg_per_s", "limit_us",  "limit_mb_per_s", "probe_ns", "ratio_to_limit", "ratio_to_best_peer"};

TEST(Row, LatencyComparesMicroseconds) {
  Row row = make_row(ping, "parley", {{6, 7, 9}, {6, 7, 50}}, 61);
  compare_with_limit(row, make_row(ping, "raw", {{5, 5.6, 6}, {}}, 61));
  EXPECT_EQ(row.rounds, 3);
  EXPECT_EQ(row.median_us, 7);
  EXPECT_EQ(row.lo_us, 6);
  EXPECT_EQ(row.hi_us, 9);
  EXPECT_EQ(row.p99_us, 50);
  EXPECT_EQ(row.limit_us, 5.6);
  EXPECT_DOUBLE_EQ(row.ratio_to_limit.value(), 1.25);
  EXPECT_FALSE(row.mb_per_s);
  EXPECT_FALSE(row.msg_per_s);
  EXPECT_FALSE(row.limit_mb_per_s);
}

TEST(Row, BandwidthComparesMegabytesPerSecond) {
  Row row = make_row(stream, "parley", {{262.144, 524.288, 262.144}, {}}, 61);
  compare_with_limit(row, make_row(stream, "raw", {{209.7152}, {}}, 61));
  EXPECT_DOUBLE_EQ(row.mb_per_s.value(), 4000);
  EXPECT_DOUBLE_EQ(row.msg_per_s.value(), 1e6 / 262.144);
  EXPECT_DOUBLE_EQ(row.limit_mb_per_s.value(), 5000);
  EXPECT_DOUBLE_EQ(row.ratio_to_limit.value(), 0.8);
  EXPECT_FALSE(row.p99_us);
  EXPECT_FALSE(row.limit_us);
}

TEST(Row, JsonHasEveryFieldInTheSchemasOrder) {
  const std::string text = to_json(make_row(ping, "parley", {{6, 7, 9}, {6}}, 61));
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const auto json = nlohmann::ordered_json::parse(text);
  std::vector<std::string> names;
  for (const auto& item : json.items()) names.push_back(item.key());
  EXPECT_EQ(names, fields);
  EXPECT_EQ(json["schema"], "parley-bench/1");
  EXPECT_EQ(json["op"], "latency");
  EXPECT_EQ(json["transport"], "tcp");
  EXPECT_EQ(json["ranks"], 2);
  EXPECT_EQ(json["bytes"], 8);
  EXPECT_EQ(json["system"], "parley");
  EXPECT_EQ(json["median_us"], 7);
  for (const char* name :
       {"mb_per_s", "msg_per_s", "limit_us", "limit_mb_per_s", "ratio_to_limit", "ratio_to_best_peer"}) {
    EXPECT_TRUE(json[name].is_null()) << name;
  }
}

TEST(Row, JsonNumbersHaveSixDigits) {
  const auto json = nlohmann::json::parse(to_json(make_row(ping, "raw", {{5.123456789}, {1234567.89}}, 0)));
  EXPECT_EQ(json["median_us"], 5.12346);
  EXPECT_EQ(json["p99_us"], 1234570);
  EXPECT_EQ(json["probe_ns"], 0);
}

TEST(Table, ATakenCoreIsSaid) {
  EXPECT_EQ(disturbance_note(std::nullopt), "");
  EXPECT_EQ(disturbance_note(0.99), "");
  EXPECT_NE(disturbance_note(0.5).find("50 %"), std::string::npos);
}

TEST(Table, ColumnsOfHeaderAndLinesEndAtTheSamePlace) {
  for (const Op op : {Op::latency, Op::bandwidth, Op::message_rate}) {
    const Subject subject{op, "tcp", 2, 64 * 1024};
    const Row raw = make_row(subject, "raw", {{5.5}, {}}, 60);
    Row row = make_row(subject, "parley", {{6}, {}}, 60);
    if (op != Op::message_rate) compare_with_limit(row, raw);
    const std::string header = table_header(op);
    const std::string line = table_line(row, raw);
    EXPECT_EQ(line.size(), header.size() - header.find("# Size")) << header << line;
    EXPECT_EQ(line.substr(0, 4), "64K ");
    EXPECT_EQ(line.back(), '\n');
  }
}

}  // namespace
}  // namespace parley::bench
