// Runs a peer's program itself, with processes, and reads its rows; CMakeLists.txt makes a test of each.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "bench/op.h"
#include "tests/unit/bench/program.h"

namespace parley::bench {
namespace {

// Its exit code; in no launcher's world.
int run_peer(const std::string& arguments) {
  const std::string clean = "env -u OMPI_COMM_WORLD_RANK -u PMI_RANK -u RANK -u WORLD_SIZE ";
  const int status = std::system((clean + PARLEY_PEER_PROGRAM + " " + arguments).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

constexpr const char* quick = " --ranks 2 --rounds 2 --round-ms 0.01 --transport ";

void expect_sound(const nlohmann::json& row, const Operation& operation, const std::string& transport) {
  EXPECT_EQ(row["schema"], "parley-bench/1");
  EXPECT_EQ(row["op"], operation.name);
  EXPECT_EQ(row["transport"], transport);
  EXPECT_EQ(row["ranks"], 2);
  EXPECT_EQ(row["system"].get<std::string>().find(PARLEY_PEER_SYSTEM), 0U);
  EXPECT_EQ(row["rounds"].get<int>() + row["rounds_left_out"].get<int>(), 2);
  EXPECT_GE(row["median_us"], 0);
  EXPECT_LE(row["lo_us"], row["median_us"]);
  EXPECT_LE(row["median_us"], row["hi_us"]);
  EXPECT_GT(row["probe_ns"], 0);
  EXPECT_EQ(row["mb_per_s"].is_null(), !is_windowed(operation.op));
  EXPECT_EQ(row["p99_us"].is_null(), is_windowed(operation.op));
}

// Every operation ends, and each result's bytes are checked.
void measure_all(const std::string& transport, const std::string& more) {
  for (const Operation& each : operations) {
    const RowFile file;
    const std::string command = std::string(each.name) + quick + transport + more;
    ASSERT_EQ(run_peer(command + " --sizes 8,100000 --json " + file.path()), 0) << command;
    const auto rows = file.rows();
    EXPECT_GE(rows.size(), each.op == Op::barrier ? 1U : 2U) << each.name;
    for (const auto& row : rows) {
      expect_sound(row, each, transport);
      EXPECT_EQ(row["buffers"], more.empty() ? "kept" : "rewritten");
    }
  }
}

TEST(PeerProgram, MeasuresEveryOperationOverTcp) {
  measure_all("tcp", "");
}

TEST(PeerProgram, WritesBuffersAnewBetweenExchanges) {
  measure_all("tcp", " --rewrite");
}

#ifdef PARLEY_PEER_HAS_SHM
TEST(PeerProgram, MeasuresEveryOperationOverSharedMemory) {
  measure_all("shm", "");
}
#else
TEST(PeerProgram, SaysWhichTransportItLacks) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_peer("latency --transport shm"), 2);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("there is no transport 'shm': write tcp"),
            std::string::npos);
}
#endif

// A rank that comes late to the end, for want of a core, is waited for.
TEST(PeerProgram, EndsWithMoreRanksThanCores) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(run_peer("reduce --ranks 4 --sizes 8 --rounds 2 --round-ms 0.01 --transport tcp"), 0);
  }
}

TEST(PeerProgram, TellsItsLibrarysVersionInOneLine) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_peer("--version"), 0);
  const std::string words = testing::internal::GetCapturedStdout();
  EXPECT_NE(words.find_first_of("0123456789"), std::string::npos) << words;
  EXPECT_EQ(words.find('\n'), words.size() - 1) << words;
}

TEST(PeerProgram, LeavesWithTwoAfterAMistake) {
  EXPECT_EQ(run_peer("latency --ranks 3"), 2);
  EXPECT_EQ(run_peer("foo"), 2);
  EXPECT_EQ(run_peer(""), 2);
  EXPECT_EQ(run_peer("latency --json /nowhere/rows.jsonl"), 2);
}

}  // namespace
}  // namespace parley::bench
