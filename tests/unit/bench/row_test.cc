#include "bench/row.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/table.h"

namespace parley::bench {
namespace {

const Subject ping{Op::latency, "tcp", 2, 8};
const Subject stream{Op::bandwidth, "tcp", 2, 1 << 20};

const std::vector<std::string> fields = {"schema",         "op",
                                         "transport",      "ranks",
                                         "bytes",          "system",
                                         "rounds",         "median_us",
                                         "p99_us",         "lo_us",
                                         "hi_us",          "mb_per_s",
                                         "msg_per_s",      "limit_us",
                                         "limit_mb_per_s", "probe_ns",
                                         "ratio_to_limit", "ratio_to_best_peer",
                                         "core_share",     "rounds_left_out",
                                         "p999_us",        "buffers",
                                         "void",           "alg_mb_per_s",
                                         "bus_mb_per_s",   "wrong",
                                         "device",         "limit_void"};

TEST(Row, LatencyComparesMicroseconds) {
  Row row = make_row(ping, "parley", {{6, 7, 9}, {6, 7, 50}, {}}, 61);
  compare_with_limit(row, make_row(ping, "raw", {{5, 5.6, 6}, {}, {}}, 61));
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
  Row row = make_row(stream, "parley", {{262.144, 524.288, 262.144}, {}, {}}, 61);
  compare_with_limit(row, make_row(stream, "raw", {{209.7152}, {}, {}}, 61));
  EXPECT_DOUBLE_EQ(row.mb_per_s.value(), 4000);
  EXPECT_DOUBLE_EQ(row.msg_per_s.value(), 1e6 / 262.144);
  EXPECT_DOUBLE_EQ(row.limit_mb_per_s.value(), 5000);
  EXPECT_DOUBLE_EQ(row.ratio_to_limit.value(), 0.8);
  EXPECT_FALSE(row.p99_us);
  EXPECT_FALSE(row.limit_us);
}

TEST(Row, JsonHasEveryFieldInTheSchemasOrder) {
  const std::string text = to_json(make_row(ping, "parley", {{6, 7, 9}, {6}, {}}, 61));
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
  for (const char* name : {"mb_per_s", "msg_per_s", "limit_us", "limit_mb_per_s", "ratio_to_limit",
                           "ratio_to_best_peer", "core_share"}) {
    EXPECT_TRUE(json[name].is_null()) << name;
  }
}

TEST(Row, JsonNumbersHaveSixDigits) {
  const auto json =
      nlohmann::json::parse(to_json(make_row(ping, "raw", {{5.123456789}, {1234567.89}, {}}, 0)));
  EXPECT_EQ(json["median_us"], 5.12346);
  EXPECT_EQ(json["p99_us"], 1234570);
  EXPECT_EQ(json["probe_ns"], 0);
}

TEST(Row, SaysWhetherBuffersWereRewrittenAndWhyItIsVoid) {
  Row row = make_row(ping, "raw cell", {{6}, {1, 2, 3}, {}}, 61);
  const auto kept = nlohmann::json::parse(to_json(row));
  EXPECT_EQ(kept["buffers"], "kept");
  EXPECT_EQ(kept["p999_us"], 3);
  EXPECT_TRUE(kept["void"].is_null());
  row.subject.rewritten = true;
  row.void_reason = "slow";
  const auto rewritten = nlohmann::json::parse(to_json(row));
  EXPECT_EQ(rewritten["buffers"], "rewritten");
  EXPECT_EQ(rewritten["void"], "slow");
}

TEST(Row, SaysWhyItsLimitIsNone) {
  Row row = make_row(ping, "parley", {{6}, {}, {}}, 61);
  EXPECT_EQ(void_notes(row), "");
  EXPECT_TRUE(nlohmann::json::parse(to_json(row))["limit_void"].is_null());
  row.limit_void_reason = "it sleeps";
  EXPECT_EQ(nlohmann::json::parse(to_json(row))["limit_void"], "it sleeps");
  EXPECT_EQ(disturbance_note(row, row),
            "# VOID, the limit: it sleeps; do not use its figures or ratios to it\n");
}

TEST(Row, SaysWhereTheBuffersLie) {
  Row row = make_row(ping, "parley", {{6}, {}, {}}, 61);
  EXPECT_EQ(nlohmann::json::parse(to_json(row))["device"], "cpu");
  row.subject.devices = {Memory::cuda, Memory::cuda};
  EXPECT_EQ(nlohmann::json::parse(to_json(row))["device"], "cuda");
  row.subject.devices.leaders = Memory::cpu;
  EXPECT_EQ(nlohmann::json::parse(to_json(row))["device"], "cpu,cuda");
}

TEST(Row, TheSmallestCoreShareIsTold) {
  Row row = make_row(ping, "parley", {{6, 7}, {}, {0.99, 0.97}}, 61);
  row.rounds_left_out = 3;
  const auto json = nlohmann::json::parse(to_json(row));
  EXPECT_EQ(json["core_share"], 0.97);
  EXPECT_EQ(json["rounds_left_out"], 3);
}

std::string note(std::vector<double> parley_share, std::vector<double> raw_share, int left_out = 0) {
  Row parley = make_row(ping, "parley", {{6}, {}, std::move(parley_share)}, 61);
  parley.rounds_left_out = left_out;
  return disturbance_note(parley, make_row(ping, "raw", {{5}, {}, std::move(raw_share)}, 61));
}

TEST(Table, ATakenCoreIsSaidOfEitherSystem) {
  const std::string begin = "# DISTURBED: a rank had its core for as little as ";
  const std::string end = "; do not use this line or its ratio\n";
  EXPECT_EQ(note({}, {}), "");
  EXPECT_EQ(note({0.99}, {0.95}), "");
  EXPECT_EQ(note({0.5}, {0.99}), begin + "50 % in the library's turns" + end);
  EXPECT_EQ(note({0.99}, {0.6}), begin + "60 % in the raw turns" + end);
  EXPECT_EQ(note({0.5}, {0.6}, 2), begin + "50 % in the library's turns, 60 % in the raw turns" + end);
}

TEST(Table, RoundsThatWereLeftOutAreCounted) {
  EXPECT_EQ(note({1}, {1}, 2), "# 2 of 3 rounds left out: something else used the core of a rank\n");
}

TEST(Table, ColumnsOfHeaderAndLinesEndAtTheSamePlace) {
  for (const Op op : {Op::latency, Op::bandwidth, Op::bidirectional, Op::message_rate}) {
    const Subject subject{op, "tcp", 2, 64 * 1024};
    const Row raw = make_row(subject, "raw", {{5.5}, {}, {}}, 60);
    Row row = make_row(subject, "parley", {{6}, {}, {}}, 60);
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
