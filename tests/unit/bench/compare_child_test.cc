#include "bench/compare/child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace parley::bench::compare {
namespace {

using std::chrono::seconds;

ChildEnd run_shell(const std::string& script, std::chrono::duration<double> deadline = seconds(60)) {
  return run_child({"/bin/sh", "-c", script}, deadline);
}

// Until a process that was killed is gone; false when it lives for half a minute.
bool goes_away(pid_t process) {
  for (int i = 0; i < 300; ++i) {
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string number;
    std::string name;
    std::string state;
    if (!(stat >> number >> name >> state) || state == "Z") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

TEST(CompareChild, TellsHowItEndedAndWhatItSaid) {
  const ChildEnd end = run_shell("echo out; echo first >&2; echo 'last words' >&2; exit 3");
  EXPECT_EQ(end.how, ChildEnd::How::exited);
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.output, "out\n");
  EXPECT_EQ(last_words(end.said), "last words");
}

TEST(CompareChild, TellsWhichSignalKilledIt) {
  const ChildEnd end = run_shell("kill -SEGV $$");
  EXPECT_EQ(end.how, ChildEnd::How::killed);
  EXPECT_EQ(end.code, SIGSEGV);
}

TEST(CompareChild, KeepsTheEndOfMuchThatIsSaid) {
  const ChildEnd end = run_shell("i=0; while [ $i -lt 20000 ]; do echo line $i >&2; i=$((i+1)); done");
  EXPECT_EQ(end.how, ChildEnd::How::exited);
  EXPECT_LE(end.said.size(), 4096U);
  EXPECT_EQ(last_words(end.said), "line 19999");
}

TEST(CompareChild, EndsAtItsDeadline) {
  EXPECT_EQ(run_shell("sleep 1000", std::chrono::milliseconds(300)).how, ChildEnd::How::too_late);
}

TEST(CompareChild, TakesAllThatItStartedWithIt) {
  const std::string name = testing::TempDir() + "parley-grandchild-" + std::to_string(::getpid());
  const auto grandchild = [&name] {
    std::ifstream file(name);
    int process = 0;
    return file >> process ? process : 0;
  };
  const SignalWatch signals;
  const ChildEnd end =
      run_child({"/bin/sh", "-c", "sleep 1000 & echo $! > " + name + "; wait"}, seconds(120), [&] {
        if (grandchild() != 0) ::raise(SIGTERM);
      });
  EXPECT_EQ(end.how, ChildEnd::How::interrupted);
  ASSERT_GT(grandchild(), 0);
  EXPECT_TRUE(goes_away(grandchild()));
  std::remove(name.c_str());
}

TEST(CompareChild, IsKilledWhenItDoesNotWantToEnd) {
  const ChildEnd end =
      run_shell("trap '' TERM; while true; do sleep 1; done", std::chrono::milliseconds(500));
  EXPECT_EQ(end.how, ChildEnd::How::too_late);
}

TEST(CompareChild, EndsWhenThisProgramIsToldTo) {
  const SignalWatch signals;
  EXPECT_EQ(SignalWatch::seen(), 0);
  int ticks = 0;
  const ChildEnd end = run_child({"/bin/sleep", "1000"}, seconds(120), [&] {
    if (++ticks == 1) ::raise(SIGINT);
  });
  EXPECT_EQ(end.how, ChildEnd::How::interrupted);
  EXPECT_EQ(SignalWatch::seen(), SIGINT);
}

TEST(CompareChild, IsNotInALaunchersWorldAndHasNoTerminal) {
  ::setenv("RANK", "3", 1);
  const ChildEnd end = run_shell("echo rank=$RANK; read line || echo nothing to read");
  ::unsetenv("RANK");
  EXPECT_EQ(end.output, "rank=\nnothing to read\n");
}

TEST(CompareChild, ThatIsNotThereIsNotStarted) {
  const ChildEnd end = run_child({"/nowhere/program"}, seconds(1));
  EXPECT_EQ(end.how, ChildEnd::How::not_started);
  EXPECT_EQ(end.said, "/nowhere/program: No such file or directory");
}

TEST(CompareChild, LastWordsSkipEmptyLines) {
  EXPECT_EQ(last_words(""), "");
  EXPECT_EQ(last_words("one\ntwo\n\n \n"), "two");
  EXPECT_EQ(last_words("only"), "only");
}

}  // namespace
}  // namespace parley::bench::compare
