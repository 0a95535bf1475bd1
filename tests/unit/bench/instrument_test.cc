// The instrument against faults that are put in on purpose, with its real programs and processes. Nothing is
// expected of how fast anything is: a loop that sleeps for a millisecond is none of a machine's, and four
// times the time is four times the time.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/unit/bench/program.h"
#include "transport/base/host.h"

namespace {

using parley::bench::RowFile;
using parley::bench::run_bench;

constexpr const char* without_spin = "PARLEY_BENCH_NO_SPIN=1";

// With more ranks than cores all loops give their core away, and no floor tells one from the other.
bool has_cores() {
  return parley::base::usable_cores().size() >= 2;
}

void expect_void_limits(const std::string& arguments) {
  SCOPED_TRACE(arguments);
  const RowFile file;
  testing::internal::CaptureStdout();
  const int code = run_bench(arguments + " --rounds 2 --round-ms 0.001 --json " + file.path(), without_spin);
  const std::string printed = testing::internal::GetCapturedStdout();
  ASSERT_EQ(code, 0);
  EXPECT_EQ(printed.find("\n# VOID, the limit: the raw ") != std::string::npos, has_cores()) << printed;
  int limited = 0;
  for (const auto& row : file.rows()) {
    if (row["ratio_to_limit"].is_null()) continue;
    ++limited;
    EXPECT_EQ(row["limit_void"].is_string(), has_cores()) << row;
  }
  EXPECT_GT(limited, 0);
}

// Windows of 1 KiB, and answered ones: smaller messages go through a stream of 1024 cells, and with both ends
// sending each may find what it waits for; such runs of a few windows go on without a sleep.
TEST(ParleyBenchFloor, ALoopThatDoesNotSpinIsVoidInEveryKindOfRun) {
  for (const std::string transport : {"tcp", "shm"}) {
    expect_void_limits("latency --sizes 8,1K --transport " + transport);
    expect_void_limits("bandwidth --sizes 1K --transport " + transport);
  }
  expect_void_limits("message-rate --transport shm --sizes 1K");
  expect_void_limits("limits --ops latency,bandwidth,message-rate --sizes 1K");
}

TEST(ParleyBenchFloor, RefusesAnotherWord) {
  testing::internal::CaptureStderr();
  EXPECT_NE(run_bench("latency --rounds 1 --sizes 8", "PARLEY_BENCH_NO_SPIN=yes"), 0);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("PARLEY_BENCH_NO_SPIN=yes: write 1"),
            std::string::npos);
}

// On one core all ranks take turns, so that no line is left out because something else used a core. A machine
// so busy that launches run out of time has less to compare, and nothing at all is no success either.
TEST(ParleyBenchGate, ALibraryThatIsFourTimesAsSlowIsNamedOnBothTransports) {
  const std::string one_core = "taskset -c " + std::to_string(parley::base::usable_cores().front()) + " ";
  const std::string arguments =
      "compare --ops latency --sizes 8,64K --ranks 2 --buffers kept --peers raw --rounds 3 --minutes 0.1 "
      "--quiet ";
  const RowFile base;
  ASSERT_EQ(run_bench(arguments + "--json " + base.path(), one_core), 0);
  testing::internal::CaptureStdout();
  const int code = run_bench(arguments + "--compare " + base.path(), "PARLEY_BENCH_SLOW=4 " + one_core);
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, 1) << printed;
  if (printed.find("4 lines compared") == std::string::npos) return;
  for (const char* line : {"SLOWER  latency, shm, ", "SLOWER  latency, tcp, "})
    EXPECT_NE(printed.find(line), std::string::npos) << printed;
}

}  // namespace
