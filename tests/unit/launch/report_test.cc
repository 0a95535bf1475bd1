#include "api/launch/report.h"

#include <gtest/gtest.h>

#include <csignal>

namespace parley::launch {
namespace {

using std::chrono::milliseconds;

const ReportContext context{"parley-run", "./solve", "bad mesh\nno such file"};

JobEnd failed_job() {
  JobEnd end;
  end.cause = Cause::rank_failed;
  end.culprit = 2;
  end.elapsed = milliseconds(1250);
  end.ranks = {{10, {0, SIGTERM}, SIGTERM}, {11, {0, SIGKILL}, SIGKILL}, {12, {3, 0}, 0}, {13, {0, 0}, 0},
               {14, {0, SIGTERM}, SIGTERM}, {15, {9, 0}, SIGTERM}};
  return end;
}

TEST(Report, NamesTheFirstFailureItsLastLinesAndTheOthers) {
  EXPECT_EQ(
      report(failed_job(), context),
      "parley-run: rank 2 failed first: ./solve (pid 12) exited with code 3 after 1.25 s\n"
      "parley-run: its last lines on standard error:\n"
      "  | bad mesh\n"
      "  | no such file\n"
      "parley-run: the others: ranks 0 and 4 died of signal 15 (SIGTERM), sent by parley-run; rank 1 died "
      "of signal 9 (SIGKILL), sent by parley-run; rank 3 exited with code 0; rank 5 exited with code 9 "
      "after parley-run had sent SIGTERM\n");
}

TEST(Report, SaysNothingWhenAllIsWell) {
  JobEnd end;
  end.ranks.resize(4);
  EXPECT_EQ(report(end, context), "");
}

TEST(Report, LeavesOutWhatIsNotThere) {
  JobEnd end;
  end.cause = Cause::rank_failed;
  end.culprit = 0;
  end.ranks = {{7, {0, SIGSEGV}, 0}};
  EXPECT_EQ(report(end, {"parley-run", "prog", ""}),
            "parley-run: rank 0 failed first: prog (pid 7) died of signal 11 (SIGSEGV) after 0.00 s\n");
}

TEST(Report, TellsOfARankThatNeverCameUnlessItWasEnded) {
  JobEnd end;
  end.cause = Cause::rank_failed;
  end.culprit = 0;
  end.ranks = {{7, {0, 0, true}, 0}, {8, {0, SIGTERM, true}, SIGTERM}};
  EXPECT_EQ(report(end, {"parley::spawn", "prog", ""}),
            "parley::spawn: rank 0 failed first: prog (pid 7) exited with code 0 before it came to its "
            "parley::spawn after 0.00 s\n"
            "parley::spawn: the others: rank 1 died of signal 15 (SIGTERM), sent by parley::spawn\n");
  EXPECT_EQ(end.exit_code(), 1);
  EXPECT_FALSE(end.ranks[0].status.ok());
}

TEST(Report, NamesTheLateRanksOfATimeout) {
  JobEnd end;
  end.cause = Cause::timed_out;
  end.elapsed = milliseconds(30000);
  end.late = {1};
  end.ranks = {{10, {0, 0}, 0}, {11, {0, SIGTERM}, SIGTERM}};
  EXPECT_EQ(
      report(end, {"parley-run", "prog", ""}),
      "parley-run: prog timed out after 30.00 s: rank 1 was still running\n"
      "parley-run: rank 0 exited with code 0; rank 1 died of signal 15 (SIGTERM), sent by parley-run\n");
}

TEST(Report, TellsOfAnInterrupt) {
  JobEnd end;
  end.cause = Cause::interrupted;
  end.interrupt = SIGINT;
  end.ranks = {{10, {0, SIGINT}, SIGINT}, {11, {0, SIGINT}, SIGINT}};
  EXPECT_EQ(report(end, {"parley-run", "prog", ""}),
            "parley-run: SIGINT arrived after 0.00 s and was passed on to prog\n"
            "parley-run: ranks 0 and 1 died of signal 2 (SIGINT), sent by parley-run\n");
}

TEST(ListRanks, FoldsRuns) {
  EXPECT_EQ(list_ranks({4}), "4");
  EXPECT_EQ(list_ranks({0, 1}), "0 and 1");
  EXPECT_EQ(list_ranks({0, 1, 3}), "0, 1 and 3");
  EXPECT_EQ(list_ranks({0, 1, 2, 3, 4, 5, 6, 7, 9}), "0 to 7 and 9");
  EXPECT_EQ(list_ranks({1, 3, 4, 5, 8, 9}), "1, 3 to 5, 8 and 9");
}

TEST(ExitCode, IsTheFirstFailures) {
  JobEnd end = failed_job();
  EXPECT_EQ(end.exit_code(), 3);
  end.culprit = 1;
  EXPECT_EQ(end.exit_code(), 137);
  end.cause = Cause::timed_out;
  EXPECT_EQ(end.exit_code(), 124);
  EXPECT_EQ(JobEnd{}.exit_code(), 0);
}

TEST(ExitCode, OfAnInterruptedJob) {
  JobEnd end;
  end.cause = Cause::interrupted;
  end.interrupt = SIGINT;
  end.ranks = {{1, {0, 0}, SIGINT}, {2, {0, 0}, SIGINT}};
  EXPECT_EQ(end.exit_code(), 0);  // all of them left in good order
  end.ranks[0].status = {0, SIGKILL};
  EXPECT_EQ(end.exit_code(), 130);
  end.ranks[1].status = {7, 0};
  EXPECT_EQ(end.exit_code(), 7);
}

TEST(ExitStatus, SpeaksAsAShell) {
  EXPECT_EQ((ExitStatus{5, 0}).shell_code(), 5);
  EXPECT_EQ((ExitStatus{0, SIGABRT}).shell_code(), 134);
  EXPECT_FALSE((ExitStatus{0, SIGABRT}).is_crash());
  EXPECT_TRUE((ExitStatus{0, SIGSEGV}).is_crash());
  EXPECT_EQ(signal_name(SIGTERM), "SIGTERM");
}

}  // namespace
}  // namespace parley::launch
