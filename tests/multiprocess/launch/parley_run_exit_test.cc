// What parley-run exits with and what it reports.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/multiprocess/launch/command.h"
#include "tests/multiprocess/launch/parley_run.h"

namespace parley::launch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ParleyRunExit, IsZeroWhenAllRanksAreWell) {
  Command command(run_probe(4, {"exit", "0"}));
  EXPECT_EQ(command.finish(), 0);
  EXPECT_EQ(count_of(command.errors(), "leaves with 0"), 4U);
  EXPECT_THAT(command.errors(), Not(HasSubstr("parley-run:")));
}

TEST(ParleyRunExit, IsTheFailingRanksCodeAndTheReportNamesIt) {
  Command command(run_probe(4, {"exit", "3", "2"}));
  EXPECT_EQ(command.finish(), 3);
  EXPECT_THAT(command.errors(), HasSubstr("parley-run: rank 2 failed first: " + probe_program + " (pid "));
  EXPECT_THAT(command.errors(), HasSubstr("exited with code 3"));
  EXPECT_THAT(command.errors(), HasSubstr("  | rank 2 leaves with 3\n"));
  EXPECT_THAT(command.errors(),
              HasSubstr("the others: ranks 0, 1 and 3 died of signal 15 (SIGTERM), sent by parley-run\n"));
}

TEST(ParleyRunExit, Is128PlusTheSignal) {
  for (const int number : {SIGKILL, SIGSEGV, SIGABRT}) {
    Command command(run_probe(3, {"signal", std::to_string(number), "1"}));
    EXPECT_EQ(command.finish(), 128 + number);
    EXPECT_THAT(command.errors(), HasSubstr("rank 1 failed first"));
    EXPECT_THAT(command.errors(), HasSubstr("died of signal " + std::to_string(number) + " (SIG"));
  }
}

TEST(ParleyRunExit, KillsAfterTheGraceTimeWhoeverIgnoresSigterm) {
  Command command(run_probe(2, {"stay", "deaf"}, {"--timeout", "100ms"}));
  EXPECT_EQ(command.finish(), 124);
  EXPECT_THAT(command.errors(), HasSubstr("timed out after"));
  EXPECT_THAT(command.errors(), HasSubstr("ranks 0 and 1 were still running"));
  EXPECT_THAT(command.errors(), HasSubstr("ranks 0 and 1 died of signal 9 (SIGKILL), sent by parley-run"));
}

TEST(ParleyRunExit, Is124AfterTheTimeout) {
  Command command(run_probe(3, {"stay"}, {"--timeout", "100ms"}));
  EXPECT_EQ(command.finish(), 124);
  EXPECT_THAT(command.errors(), HasSubstr("ranks 0 to 2 were still running"));
  EXPECT_THAT(command.errors(), HasSubstr("ranks 0 to 2 died of signal 15 (SIGTERM), sent by parley-run"));
}

TEST(ParleyRunExit, TimeoutIsNotReachedByAQuickJob) {
  Command command(run_probe(2, {"exit", "0"}, {"--timeout", "30m"}));
  EXPECT_EQ(command.finish(), 0);
}

TEST(ParleyRunExit, Is127WhenTheProgramIsNotThere) {
  Command command({run_program, "-n", "2", "no-such-program-anywhere", "-x"});
  EXPECT_EQ(command.finish(), 127);
  EXPECT_EQ(command.errors(), "parley-run: no-such-program-anywhere: not found in PATH\n");
}

TEST(ParleyRunExit, Is126WhenTheProgramCannotBeExecuted) {
  const std::string path = ::testing::TempDir() + "/parley-not-executable-" + std::to_string(getpid());
  std::ofstream(path) << "data\n";
  Command command({run_program, "-n", "2", path});
  EXPECT_EQ(command.finish(), 126);
  EXPECT_THAT(command.errors(), HasSubstr(path + ": Permission denied"));
  std::filesystem::remove(path);
}

TEST(ParleyRunExit, AScriptWithoutItsInterpreterIsNotFound) {
  const std::string path = ::testing::TempDir() + "/parley-script-" + std::to_string(getpid());
  std::ofstream(path) << "#!/no/such/interpreter\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  Command command({run_program, "-n", "1", path});
  EXPECT_EQ(command.finish(), 127);
  EXPECT_THAT(command.errors(), HasSubstr("[0] cannot start " + path));
  std::filesystem::remove(path);
}

TEST(ParleyRunUsage, MistakesExitWith2AndSayWhich) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes{
      {{}, "--ranks is required"},
      {{"-n", "2"}, "which program?"},
      {{"-n", "0", "true"}, "Value 0 not in range"},
      {{"-n", "2", "--frobnicate", "true"}, "there is no option --frobnicate"},
      {{"-n", "2", "--timeout", "soon", "true"}, "--timeout soon is not a duration"},
      {{"-n", "2", "--env", "NOVALUE", "true"}, "--env NOVALUE is not NAME=VALUE"},
      {{"-n", "2", "--env", "=x", "true"}, "is not NAME=VALUE"},
      {{"-n", "2", "--env", "RANK=5", "true"}, "--env RANK: the launcher itself sets RANK for every rank"},
      // Without the value: secrets are never shown.
      {{"-n", "2", "--env", "PARLEY_SECRET=x", "true"}, "--env PARLEY_SECRET: the launcher itself sets"}};
  for (const auto& [arguments, text] : mistakes) {
    std::vector<std::string> words{run_program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    Command command(words);
    EXPECT_EQ(command.finish(), 2) << text;
    EXPECT_THAT(command.errors(), HasSubstr(text));
    EXPECT_EQ(command.output(), "");
  }
}

TEST(ParleyRunUsage, HelpShowsExamplesAndVersionShowsTheVersion) {
  Command help({run_program, "--help"});
  EXPECT_EQ(help.finish(), 0);
  EXPECT_GE(count_of(help.output(), "  parley-run -n"), 2U);
  Command version({run_program, "--version"});
  EXPECT_EQ(version.finish(), 0);
  EXPECT_THAT(version.output(), ::testing::StartsWith("parley-run "));
}

TEST(ParleyRunUsage, EverythingAfterTheProgramBelongsToIt) {
  for (const std::vector<std::string>& separator : {std::vector<std::string>{}, {"--"}}) {
    std::vector<std::string> words{run_program, "-n", "1"};
    words.insert(words.end(), separator.begin(), separator.end());
    words.insert(words.end(), {"echo", "-n", "--env", "--", "--help"});
    Command command(words);
    EXPECT_EQ(command.finish(), 0);
    EXPECT_EQ(command.output(), "[0] --env -- --help\n");
  }
}

}  // namespace
}  // namespace parley::launch::testing
