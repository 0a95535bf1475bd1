// Runs parley-bench tune with processes, reads the file that it writes, and measures by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "api/schedule/tuning.h"
#include "tests/unit/bench/program.h"

namespace parley::bench {
namespace {

using schedule::Operation;
using ::testing::HasSubstr;

const std::string quick = " --rounds 3 --round-ms 0.05 ";

std::string text_in(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ParleyBenchTune, WritesATableThatTheLibraryGoesBy) {
  const RowFile file;
  ::testing::internal::CaptureStdout();
  ASSERT_EQ(run_bench("tune --ranks 2,4 --transport tcp --sizes 8,4K --operations all_reduce,barrier" +
                      quick + "--output " + file.path()),
            0);
  const std::string summary = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(summary.begin(), summary.end(), '\n'), 1 + 2 * 3) << summary;
  const auto tuning = schedule::parse_tuning(text_in(file.path()));
  ASSERT_TRUE(tuning.ok()) << tuning.failure().message;
  for (const std::uint32_t ranks : {2U, 4U}) {
    const auto finds = [&](Operation operation, std::uint64_t bytes) {
      const auto by = [&](bool shares_cores) {
        return tuning.value().find({operation, ranks, schedule::Link::tcp, shares_cores, bytes}).has_value();
      };
      return by(false) || by(true);
    };
    EXPECT_TRUE(finds(Operation::all_reduce, 8));
    EXPECT_TRUE(finds(Operation::all_reduce, 4096));
    EXPECT_FALSE(finds(Operation::all_reduce, 4100));
    EXPECT_TRUE(finds(Operation::barrier, 0));
  }
  ::testing::internal::CaptureStdout();
  ASSERT_EQ(run_bench("all_reduce --ranks 4 --sizes 8,8K" + quick, "PARLEY_TUNING=" + file.path()), 0);
  const std::string measured = ::testing::internal::GetCapturedStdout();
  const std::size_t first = measured.find("as was measured (PARLEY_TUNING)");
  EXPECT_NE(first, std::string::npos) << measured;
  EXPECT_EQ(measured.find("as was measured", first + 1), std::string::npos) << measured;
}

TEST(ParleyBenchTune, WritesToStdoutAndTheSummaryToStderr) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = run_bench("tune --ranks 3 --sizes 8 --operations scatter,gather" + quick);
  const std::string progress = ::testing::internal::GetCapturedStderr();
  const std::string table = ::testing::internal::GetCapturedStdout();
  ASSERT_EQ(code, 0) << progress;
  const auto tuning = schedule::parse_tuning(table);
  ASSERT_TRUE(tuning.ok()) << table;
  EXPECT_EQ(tuning.value().rows().size(), 2U);
  EXPECT_THAT(table, HasSubstr("# Written by: parley-bench tune --ranks 3 --sizes 8"));
  EXPECT_THAT(progress, HasSubstr("[ 50 %] "));
  EXPECT_THAT(progress, HasSubstr("# Operation      ranks    size  model"));
}

// Nothing that the environment says is taken for the price model's choice.
TEST(ParleyBenchTune, IsNotMisledByWhatTheEnvironmentAsksFor) {
  ::testing::internal::CaptureStdout();
  ASSERT_EQ(run_bench("tune --ranks 2 --transport tcp --sizes 1M --operations broadcast --quiet" + quick,
                      "PARLEY_ALGO=broadcast=two_level PARLEY_TUNING=/nowhere/table"),
            0);
  EXPECT_TRUE(schedule::parse_tuning(::testing::internal::GetCapturedStdout()).ok());
}

TEST(ParleyBenchTune, LeavesWithTwoAfterAMistake) {
  EXPECT_EQ(run_bench("tune --ranks 1"), 2);
  EXPECT_EQ(run_bench("tune --output /nowhere/table"), 2);
  EXPECT_EQ(run_bench("tune", "RANK=0 WORLD_SIZE=2"), 2);
  EXPECT_EQ(run_bench("tune --help > /dev/null"), 0);
}

}  // namespace
}  // namespace parley::bench
