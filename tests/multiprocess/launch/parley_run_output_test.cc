// The way of the ranks' output and input through parley-run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/multiprocess/launch/command.h"
#include "tests/multiprocess/launch/parley_run.h"

namespace parley::launch::testing {
namespace {

// The line that launch_probe writes.
std::string expected_line(int rank, int i) {
  return "rank " + std::to_string(rank) + " line " + std::to_string(i) + ' ' +
         std::string(static_cast<std::size_t>((i * 7 + rank) % 61), static_cast<char>('a' + i % 26));
}

// Every line is whole and prefixed, and each rank's lines are complete and in order.
void expect_whole_lines(const std::string& output, int ranks, int lines_per_rank, int stride) {
  std::vector<int> next(static_cast<std::size_t>(ranks), 0);
  for (const std::string& line : lines_of(output)) {
    ASSERT_GE(line.size(), 4U) << line;
    const int rank = line[1] - '0';
    ASSERT_TRUE(rank >= 0 && rank < ranks) << line;
    int& i = next[static_cast<std::size_t>(rank)];
    ASSERT_EQ(line, "[" + std::to_string(rank) + "] " + expected_line(rank, i));
    i += stride;
  }
  for (const int count : next) EXPECT_GE(count, lines_per_rank);
}

TEST(ParleyRunOutput, EightRanksTear0Of160000Lines) {
  constexpr int lines = 20000;
  Command command(run_probe(8, {"lines", std::to_string(lines)}));
  ASSERT_EQ(command.finish(), 0);
  EXPECT_EQ(count_of(command.output(), "\n"), 8U * lines);
  expect_whole_lines(command.output(), 8, lines, 1);
}

TEST(ParleyRunOutput, BothStreamsOnOnePipeTearNothing) {
  constexpr int lines = 2000;
  CommandOptions options;
  options.errors_to_output = true;
  Command command(run_probe(4, {"both", std::to_string(lines)}), options);
  ASSERT_EQ(command.finish(), 0);
  std::vector<std::string> got = lines_of(command.output());
  ASSERT_EQ(got.size(), 4U * lines);
  std::vector<std::string> expected;
  for (int rank = 0; rank < 4; ++rank) {
    for (int i = 0; i < lines; ++i)
      expected.push_back("[" + std::to_string(rank) + "] " + expected_line(rank, i));
  }
  std::sort(got.begin(), got.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(got, expected);
}

TEST(ParleyRunOutput, KeepsTheTwoStreamsApart) {
  Command command(run_probe(1, {"both", "6"}));
  ASSERT_EQ(command.finish(), 0);
  for (int i = 0; i < 6; ++i) {
    const std::string line = "[0] " + expected_line(0, i) + '\n';
    EXPECT_EQ(count_of(i % 2 == 0 ? command.output() : command.errors(), line), 1U) << line;
  }
}

TEST(ParleyRunOutput, EndsAnUnfinishedLastLine) {
  Command command(run_probe(3, {"write", "no newline"}));
  EXPECT_EQ(command.finish(), 0);
  EXPECT_EQ(sorted_lines(command.output()), "[0] no newline\n[1] no newline\n[2] no newline\n");
}

TEST(ParleyRunOutput, AddsNothingWithNoPrefix) {
  Command command(run_probe(1, {"write", "as it is"}, {"--no-prefix"}));
  EXPECT_EQ(command.finish(), 0);
  EXPECT_EQ(command.output(), "as it is");
}

TEST(ParleyRunOutput, HasNoColourInAPipe) {
  Command command(run_probe(2, {"write", "x"}), {.environment = {{"TERM", "xterm-256color"}}});
  EXPECT_EQ(command.finish(), 0);
  EXPECT_EQ(count_of(command.output(), "\x1b"), 0U);
}

// The launcher sees a failure, and ends the ranks, while its own output is stuck.
TEST(ParleyRunOutput, AReaderThatNeverReadsDoesNotBlindTheLauncher) {
  CommandOptions options;
  options.reads_output = false;
  Command command(run_probe(3, {"flood", "1", "5"}), options);
  ASSERT_TRUE(command.await_errors("pid=", 3));
  EXPECT_TRUE(all_end(numbers_after(command.errors(), "pid=")));
}

TEST(ParleyRunOutput, TheRanksSeeAReaderThatIsGone) {
  Command command({"sh", "-c", "\"$@\" | head -n 2; wait", "sh", run_program, "-n", "2", "--", probe_program,
                   "flood", "9", "0"});
  EXPECT_EQ(command.finish(), 0);
  EXPECT_EQ(lines_of(command.output()).size(), 2U);
  EXPECT_THAT(command.errors(), ::testing::HasSubstr("failed first"));
  EXPECT_TRUE(all_end(numbers_after(command.errors(), "pid=")));
}

class LogDir : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/parley-logs-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ + "/new/" + name).rdbuf();
    return text.str();
  }
  std::string folder_;
};

TEST_F(LogDir, HoldsEachRanksRawOutput) {
  Command command(run_probe(3, {"both", "4"}, {"--log-dir", folder_ + "/new"}));
  ASSERT_EQ(command.finish(), 0);
  for (int rank = 0; rank < 3; ++rank) {
    const std::string stem = "rank-" + std::to_string(rank);
    EXPECT_EQ(read(stem + ".out"), expected_line(rank, 0) + '\n' + expected_line(rank, 2) + '\n');
    EXPECT_EQ(read(stem + ".err"), expected_line(rank, 1) + '\n' + expected_line(rank, 3) + '\n');
  }
  EXPECT_EQ(lines_of(command.output()).size(), 6U);
}

TEST_F(LogDir, ThatCannotBeMadeIsAnError) {
  std::ofstream(folder_ + "/new") << "a file\n";
  Command command(run_probe(2, {"exit", "0"}, {"--log-dir", folder_ + "/new"}));
  EXPECT_EQ(command.finish(), 1);
  EXPECT_THAT(command.errors(), ::testing::HasSubstr("cannot make the log directory " + folder_ + "/new"));
}

TEST_F(LogDir, ADiskThatIsFullIsReported) {
  std::filesystem::create_directory(folder_ + "/new");
  std::filesystem::create_symlink("/dev/full", folder_ + "/new/rank-0.out");
  Command command(run_probe(1, {"write", "x\n"}, {"--log-dir", folder_ + "/new"}));
  EXPECT_EQ(command.finish(), 0);
  EXPECT_EQ(command.output(), "[0] x\n");
  EXPECT_THAT(command.errors(), ::testing::HasSubstr("rank-0.out is incomplete: No space left on device"));
}

TEST(ParleyRunInput, GoesToRank0Only) {
  Command command(run_probe(3, {"cat"}), {.input = "for rank 0\n"});
  EXPECT_EQ(command.finish(), 0);
  EXPECT_EQ(sorted_lines(command.output()),
            "[0] end of input\n[0] for rank 0\n[1] end of input\n[2] end of input\n");
}

}  // namespace
}  // namespace parley::launch::testing
