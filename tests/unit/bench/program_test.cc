// Runs parley-bench itself, with processes, and reads its rows.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/bench/program.h"

namespace {

using parley::bench::RowFile;
using parley::bench::run_bench;

TEST(ParleyBench, WritesTwoRowsForEachSize) {
  const RowFile file;
  ASSERT_EQ(run_bench("latency --ranks 2 --rounds 2 --round-ms 1 --sizes 8,64K --json " + file.path()), 0);
  const auto rows = file.rows();
  ASSERT_EQ(rows.size(), 4U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]["bytes"], i < 2 ? 8 : 65536);
    EXPECT_EQ(rows[i]["system"], i % 2 == 0 ? "parley" : "raw");
    EXPECT_EQ(rows[i]["rounds"].get<int>() + rows[i]["rounds_left_out"].get<int>(), 2);
    EXPECT_GT(rows[i]["median_us"], 0);
  }
  EXPECT_EQ(rows[0]["limit_us"], rows[1]["median_us"]);
  EXPECT_GT(rows[0]["ratio_to_limit"], 0);
}

TEST(ParleyBench, AppendsToItsFile) {
  const RowFile file;
  ASSERT_EQ(run_bench("bandwidth --rounds 1 --round-ms 1 --sizes 64K --json " + file.path()), 0);
  ASSERT_EQ(run_bench("message-rate --rounds 1 --round-ms 1 --json " + file.path()), 0);
  const auto rows = file.rows();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0]["op"], "bandwidth");
  EXPECT_GT(rows[0]["mb_per_s"], 0);
  EXPECT_EQ(rows[2]["op"], "message-rate");
  EXPECT_GT(rows[2]["msg_per_s"], 0);
  EXPECT_TRUE(rows[2]["limit_mb_per_s"].is_null());
}

// The rows of a size come from both runs before those of the next from either: their rounds take turns.
TEST(ParleyBench, MeasuresTwoTransportsInTurns) {
  const RowFile file;
  testing::internal::CaptureStdout();
  ASSERT_EQ(
      run_bench("bandwidth --transport shm,tcp --rounds 2 --round-ms 1 --sizes 8,64K --json " + file.path()),
      0);
  const std::string printed = testing::internal::GetCapturedStdout();
  std::vector<std::pair<std::string, int>> parts;
  for (const auto& row : file.rows()) {
    const std::pair<std::string, int> part(row["transport"], row["bytes"]);
    if (parts.empty() || parts.back() != part) parts.push_back(part);
  }
  EXPECT_EQ(parts, (std::vector<std::pair<std::string, int>>{
                       {"shm", 8}, {"tcp", 8}, {"shm", 65536}, {"tcp", 65536}}));
  EXPECT_NE(printed.find("\n# Size           shm      limit"), std::string::npos) << printed;
  EXPECT_NE(printed.find("\n64K  "), std::string::npos) << printed;
  EXPECT_EQ(printed.find("raw "), std::string::npos) << printed;
}

// With an interface that does not exist no run starts.
TEST(ParleyBench, ReportsThatARunOfTwoHasFailed) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_bench("latency --transport shm,tcp --rounds 1 --round-ms 1 --sizes 8",
                      "PARLEY_SOCKET_IFNAME=none0"),
            1);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("none0"), std::string::npos);
}

TEST(ParleyBench, MeasuresPairsThatShareCores) {
  const RowFile file;
  ASSERT_EQ(run_bench("latency --ranks 4 --rounds 1 --round-ms 1 --sizes 8 --json " + file.path()), 0);
  ASSERT_EQ(file.rows().size(), 2U);
  EXPECT_EQ(file.rows()[0]["ranks"], 4);
}

TEST(ParleyBench, MeasuresEveryCollectiveAndChecksAllElements) {
  for (const char* op : {"broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                         "gather", "scatter", "barrier"}) {
    const RowFile file;
    const std::string quick = " --ranks 4 --rounds 2 --round-ms 0.01 --sizes 8,100000 --json ";
    ASSERT_EQ(run_bench(op + quick + file.path()), 0) << op;
    const bool moves = op != std::string("barrier");
    const auto rows = file.rows();
    ASSERT_EQ(rows.size(), moves ? 2U : 1U) << op;
    for (const auto& row : rows) {
      EXPECT_EQ(row["op"], op);
      EXPECT_EQ(row["system"], "parley");
      EXPECT_EQ(row["wrong"], 0) << op;
      EXPECT_EQ(row["bus_mb_per_s"].is_null(), !moves) << op;
      EXPECT_TRUE(row["void"].is_null() || !row["void"].get<std::string>().ends_with("wrong")) << op;
    }
  }
}

TEST(ParleyBench, MeasuresOneAlgorithmAsynchronouslyBesideALoopByHand) {
  const RowFile file;
  ASSERT_EQ(
      run_bench(
          "all_reduce --transport shm --rounds 2 --round-ms 0.1 --sizes 8,100000 --async --rewrite --read "
          "--algo ring --by-hand --json " +
          file.path()),
      0);
  std::vector<std::string> systems;
  for (const auto& row : file.rows()) {
    EXPECT_EQ(row["wrong"], 0);
    const auto system = row["system"].get<std::string>();
    if (!system.starts_with("raw ")) systems.push_back(system);
  }
  EXPECT_EQ(systems, (std::vector<std::string>{"parley", "by hand", "parley", "by hand"}));
}

TEST(ParleyBench, FailsWithAnAlgorithmThatIsNone) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_bench("all_reduce --rounds 1 --sizes 8 --algo circle"), 1);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("circle"), std::string::npos);
}

// A mistake is answered before any process is started.
TEST(ParleyBench, LeavesWithTwoAfterAMistake) {
  EXPECT_EQ(run_bench("latency --ranks 3"), 2);
  EXPECT_EQ(run_bench("foo"), 2);
  EXPECT_EQ(run_bench("", "RANK=0 WORLD_SIZE=2"), 2);
  EXPECT_EQ(run_bench("latency --colour"), 2);
  EXPECT_EQ(run_bench("latency --transport shm,tcp", "RANK=0 WORLD_SIZE=2"), 2);
  EXPECT_EQ(run_bench("latency --rounds 1 --sizes 8 --json /nowhere/rows.jsonl"), 2);
}

TEST(ParleyBench, SaysWhyThereIsNoDevice) {
  for (const char* world : {"PARLEY_CUDA=off", "PARLEY_CUDA=off RANK=0 WORLD_SIZE=2"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_bench("all_reduce --device cuda", world), 2);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "parley-bench: --device cuda: PARLEY_CUDA=off is set\nRun parley-bench --help for more.\n");
  }
}

TEST(ParleyBench, SaysWhatIsWrongAndWhereToLook) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_bench("speed"), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "parley-bench: there is no operation 'speed': write latency, bandwidth, bidirectional, "
            "message-rate, broadcast, reduce, all_reduce, all_gather, reduce_scatter, all_to_all, gather, "
            "scatter, barrier or limits\n"
            "Run parley-bench --help for more.\n");
}

TEST(ParleyBench, SaysWhatIsWrongWithALaunchersWorld) {
  const std::vector<std::pair<std::string, std::string>> worlds = {
      {"RANK=0", "RANK is set, but WORLD_SIZE is not: start parley-bench with a launcher that sets both"},
      {"RANK=zero WORLD_SIZE=2", "RANK=zero is not a number"},
      {"RANK=0 WORLD_SIZE=3", "3 ranks: ranks talk in pairs"},
      {"RANK=0 WORLD_SIZE=4", "--ranks 2, but the launcher has started 4 ranks (WORLD_SIZE)"},
  };
  for (const auto& [environment, answer] : worlds) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_bench("latency --ranks 2", environment), 2);
    const std::string printed = testing::internal::GetCapturedStderr();
    EXPECT_EQ(printed.find("parley-bench: " + answer), 0U) << printed;
  }
}

}  // namespace
