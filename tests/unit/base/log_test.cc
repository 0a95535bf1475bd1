#include "transport/base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/base/log_filter.h"
#include "transport/base/unique_fd.h"

namespace parley::base {
namespace {

// Sends stderr into a pipe that keeps the borders between writes.
class StderrPipe {
 public:
  StderrPipe() : saved_(::dup(STDERR_FILENO)) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_DIRECT | O_NONBLOCK) != 0) throw std::runtime_error("pipe2");
    read_.reset(ends[0]);
    const UniqueFd write(ends[1]);
    ::dup2(write.get(), STDERR_FILENO);
  }
  ~StderrPipe() { ::dup2(saved_.get(), STDERR_FILENO); }
  void close_reader() { read_.reset(); }
  // What one write(2) brought, or "".
  std::string next_write() {
    std::array<char, 8192> buffer{};
    const auto got = ::read(read_.get(), buffer.data(), buffer.size());
    return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
  }

 private:
  UniqueFd saved_;
  UniqueFd read_;
};

class Log : public testing::Test {
 protected:
  void SetUp() override { set_log_level(LogLevel::warn); }
  void TearDown() override {
    set_log_sink({});
    set_log_rank(-1);
    set_thread_log_rank(-1);
    set_log_level(LogLevel::warn);
  }
};

TEST_F(Log, ALineIsOneWriteWithRankLevelAndSubsystem) {
  StderrPipe pipe;
  set_log_rank(2);
  PARLEY_LOG(warn, "tcp", "link to ", 3, " closed after ", 1.5, " s", '!');
  EXPECT_EQ(pipe.next_write(), "parley[rank 2] warn tcp: link to 3 closed after 1.500000 s!\n");
  EXPECT_EQ(pipe.next_write(), "");
}

TEST_F(Log, WithoutARankTheProcessIsNamed) {
  StderrPipe pipe;
  PARLEY_LOG(error, "init", std::string("x"));
  EXPECT_EQ(pipe.next_write(), "parley[pid " + std::to_string(getpid()) + "] error init: x\n");
}

TEST_F(Log, AThreadMayHaveARankOfItsOwn) {
  StderrPipe pipe;
  set_log_rank(0);
  std::thread([] {
    set_thread_log_rank(5);
    PARLEY_LOG(warn, "p2p", "a");
    set_thread_log_rank(-1);
    PARLEY_LOG(warn, "p2p", "b");
  }).join();
  EXPECT_EQ(pipe.next_write(), "parley[rank 5] warn p2p: a\n");
  EXPECT_EQ(pipe.next_write(), "parley[rank 0] warn p2p: b\n");
}

TEST_F(Log, ArgumentsAreEvaluatedOnlyWhenTheLevelIsOn) {
  StderrPipe pipe;
  int evaluated = 0;
  PARLEY_LOG(info, "tcp", ++evaluated);
  EXPECT_EQ(evaluated, 0);
  set_log_level(LogLevel::info);
  PARLEY_LOG(info, "tcp", ++evaluated);
  PARLEY_LOG(debug, "tcp", ++evaluated);
  EXPECT_EQ(evaluated, 1);
  EXPECT_NE(pipe.next_write(), "");
  EXPECT_EQ(pipe.next_write(), "");
}

TEST_F(Log, AMessageCannotForgeALine) {
  StderrPipe pipe;
  set_log_rank(1);
  log_line(LogLevel::warn, "socket", "a\nparley[rank 0] error: b\r\x1b[2J\x7f\xc3\xa9");
  EXPECT_EQ(pipe.next_write(), "parley[rank 1] warn socket: a?parley[rank 0] error: b??[2J?\xc3\xa9\n");
}

TEST_F(Log, KeepsErrnoAndSurvivesAClosedPipe) {
  StderrPipe pipe;
  pipe.close_reader();
  errno = ENOENT;
  log_line(LogLevel::warn, "tcp", "into the void");
  EXPECT_EQ(errno, ENOENT);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0);
}

TEST_F(Log, TheSinkReplacesStderr) {
  StderrPipe pipe;
  std::vector<std::string> lines;
  set_log_rank(4);
  set_log_sink([&](const LogRecord& record) {
    lines.push_back(
        concat(static_cast<int>(record.level), ' ', record.subsystem, ' ', record.message, ' ', record.rank));
  });
  PARLEY_LOG(warn, "store", "lost");
  set_log_sink({});
  EXPECT_EQ(lines, std::vector<std::string>{"1 store lost 4"});
  EXPECT_EQ(pipe.next_write(), "");
  PARLEY_LOG(warn, "store", "back");
  EXPECT_EQ(pipe.next_write(), "parley[rank 4] warn store: back\n");
}

TEST_F(Log, AThrowingOrLoggingSinkDoesNoHarm) {
  StderrPipe pipe;
  set_log_rank(0);
  set_log_sink([](const LogRecord&) {
    PARLEY_LOG(warn, "tcp", "inner");
    throw std::runtime_error("sink");
  });
  PARLEY_LOG(warn, "tcp", "outer");
  EXPECT_EQ(pipe.next_write(), "parley[rank 0] warn tcp: inner\n");
  EXPECT_EQ(pipe.next_write(), "parley[rank 0] warn tcp: outer\n");
}

TEST_F(Log, TheSinkIsCalledByOneThreadAtATime) {
  constexpr int threads = 4;
  constexpr int lines = 500;
  int count = 0;  // not atomic: the calls are serialised, and ThreadSanitizer checks that they are
  set_log_sink([&](const LogRecord&) { ++count; });
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i)
    pool.emplace_back([] {
      for (int line = 0; line < lines; ++line) PARLEY_LOG(warn, "tcp", line);
    });
  for (auto& thread : pool) thread.join();
  set_log_sink({});
  EXPECT_EQ(count, threads * lines);
}

TEST_F(Log, TheSinkMayBeReplacedWhileOthersLog) {
  std::atomic<bool> stop{false};
  std::atomic<long> count{0};
  set_log_sink([&](const LogRecord&) { ++count; });
  std::thread logger([&] {
    while (!stop) PARLEY_LOG(warn, "tcp", "x");
  });
  for (int i = 0; i < 200; ++i) set_log_sink([&](const LogRecord&) { ++count; });
  const long seen = count;
  const Deadline hang_limit = Deadline::after(std::chrono::seconds(60));
  while (count == seen && !hang_limit.expired()) std::this_thread::yield();
  stop = true;
  logger.join();
  EXPECT_GT(count, seen);
}

// Runs in a process of its own, which reads its environment afresh; exits with the number of lines logged.
[[noreturn]] void log_one_of_each(const char* level, const char* subsystems) {
  setenv("PARLEY_DEBUG", level, 1);
  setenv("PARLEY_DEBUG_SUBSYS", subsystems, 1);
  int count = 0;
  set_log_sink([&](const LogRecord&) { ++count; });
  for (const char* subsystem : {"tcp", "store", "env"}) {
    PARLEY_LOG(error, subsystem, "");
    PARLEY_LOG(warn, subsystem, "");
    PARLEY_LOG(info, subsystem, "");
    PARLEY_LOG(debug, subsystem, "");
  }
  set_log_sink({});
  std::exit(count);
}

TEST(LogEnvironmentDeathTest, SelectsLevelAndSubsystems) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(log_one_of_each("", ""), testing::ExitedWithCode(6), "");
  EXPECT_EXIT(log_one_of_each("error", ""), testing::ExitedWithCode(3), "");
  EXPECT_EXIT(log_one_of_each("INFO", ""), testing::ExitedWithCode(9), "");
  EXPECT_EXIT(log_one_of_each("debug", ""), testing::ExitedWithCode(12), "");
  EXPECT_EXIT(log_one_of_each("debug", "tcp"), testing::ExitedWithCode(8), "");
  EXPECT_EXIT(log_one_of_each("debug", "^env"), testing::ExitedWithCode(8), "");
  // One line more than the six: the complaint about the value.
  EXPECT_EXIT(log_one_of_each("loud", ""), testing::ExitedWithCode(7), "");
}

[[noreturn]] void log_with_a_bad_level() {
  setenv("PARLEY_DEBUG", "loud", 1);
  set_log_rank(0);
  PARLEY_LOG(info, "tcp", "hidden");
  std::exit(0);
}

TEST(LogEnvironmentDeathTest, ABadLevelIsReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(log_with_a_bad_level(), testing::ExitedWithCode(0),
              "warn env: PARLEY_DEBUG=loud is not a level: write error, warn, info or debug");
}

// Shows on stderr what the checks say, for nothing else is logged.
[[noreturn]] void check_twice(const char* level, const char* subsystems) {
  setenv("PARLEY_DEBUG", level, 1);
  setenv("PARLEY_DEBUG_SUBSYS", subsystems, 1);
  set_log_rank(0);
  check_log_environment();
  check_log_environment();
  std::fputs("end\n", stderr);
  std::exit(0);
}

TEST(LogEnvironmentDeathTest, WhatNobodyUnderstandsIsReportedOnceThoughNothingIsLogged) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string start = "parley\\[rank 0\\] warn env: PARLEY_DEBUG";
  EXPECT_EXIT(check_twice("info", "socket,^store,all"), testing::ExitedWithCode(0), "^end\n$");
  EXPECT_EXIT(check_twice("loud", ""), testing::ExitedWithCode(0),
              "^" + start + "=loud is not a level: write error, warn, info or debug\nend\n$");
  const std::string known = "; known: collective, cuda, engine, env, init, p2p, shm, socket, store\n";
  EXPECT_EXIT(check_twice("", "sokcet,socket,^INIT"), testing::ExitedWithCode(0),
              "^" + start + "_SUBSYS: there is no subsystem 'sokcet'" + known + start +
                  "_SUBSYS: there is no subsystem 'INIT'" + known + "end\n$");
}

// The second arguments of PARLEY_LOG(level, "subsystem", ...).
void add_subsystems(const std::string& text, std::set<std::string>& found) {
  const std::string call = "PARLEY_LOG(";
  for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
    const std::size_t comma = text.find(',', at);
    const std::size_t begin = text.find_first_not_of(" \n", comma + 1);
    if (comma == std::string::npos || begin == std::string::npos || text[begin] != '"') continue;
    found.insert(text.substr(begin + 1, text.find('"', begin + 1) - begin - 1));
  }
}

TEST(SubsystemFilter, KnowsTheSubsystemsOfTheSources) {
  std::set<std::string> found;
  for (const char* folder : {"api", "rendezvous", "tensor", "transport"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(PARLEY_SOURCE_DIR) + "/" + folder)) {
      if (entry.path().extension() != ".cc") continue;
      std::ostringstream file;
      file << std::ifstream(entry.path()).rdbuf();
      add_subsystems(file.str(), found);
    }
  }
  const auto known = known_subsystems();
  EXPECT_EQ(found, std::set<std::string>(known.begin(), known.end()));
}

TEST(SubsystemFilter, FollowsItsGrammar) {
  const auto info = [](std::string_view filter, std::string_view subsystem) {
    return SubsystemFilter(filter).admits(LogLevel::info, subsystem);
  };
  EXPECT_TRUE(info("", "tcp"));
  EXPECT_TRUE(info("tcp,store", "tcp"));
  EXPECT_TRUE(info(" tcp , store ,", "store"));
  EXPECT_FALSE(info("tcp,store", "env"));
  EXPECT_FALSE(info("tcpx", "tcp"));
  EXPECT_FALSE(info("^env", "env"));
  EXPECT_TRUE(info("^env", "tcp"));
  EXPECT_FALSE(info("^env,^tcp", "tcp"));
  EXPECT_FALSE(info("tcp,^env", "store"));
  EXPECT_TRUE(info("all,^env", "store"));
  EXPECT_FALSE(info("all,^env", "env"));
  EXPECT_TRUE(info(",,^,", "tcp"));
}

TEST(SubsystemFilter, HidesWarningsOnlyOfExcludedSubsystems) {
  EXPECT_TRUE(SubsystemFilter("tcp").admits(LogLevel::warn, "store"));
  EXPECT_TRUE(SubsystemFilter("tcp").admits(LogLevel::error, "store"));
  EXPECT_FALSE(SubsystemFilter("^store").admits(LogLevel::error, "store"));
}

TEST(LogThrottle, CountsWhatItHoldsBack) {
  LogThrottle throttle(std::chrono::hours(1));
  long suppressed = -1;
  EXPECT_TRUE(throttle.admit(suppressed));
  EXPECT_EQ(suppressed, 0);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(throttle.admit(suppressed));
}

TEST(LogThrottle, ReportsTheHeldBackWithTheNextLine) {
  LogThrottle throttle(std::chrono::milliseconds(20));
  long suppressed = -1;
  ASSERT_TRUE(throttle.admit(suppressed));
  long held_back = 0;
  const Deadline hang_limit = Deadline::after(std::chrono::seconds(60));
  while (!throttle.admit(suppressed) && !hang_limit.expired()) ++held_back;
  EXPECT_EQ(suppressed, held_back);
}

TEST(LogThrottle, APeriodWithoutEndAdmitsOneLine) {
  LogThrottle throttle(std::chrono::nanoseconds::max());
  long suppressed = 0;
  EXPECT_TRUE(throttle.admit(suppressed));
  EXPECT_FALSE(throttle.admit(suppressed));
}

TEST(LogThrottle, AdmitsOneOfManyThreads) {
  LogThrottle throttle(std::chrono::hours(1));
  std::atomic<int> admitted{0};
  std::vector<std::thread> pool;
  for (int i = 0; i < 4; ++i)
    pool.emplace_back([&] {
      long suppressed = 0;
      for (int call = 0; call < 1000; ++call) admitted += throttle.admit(suppressed) ? 1 : 0;
    });
  for (auto& thread : pool) thread.join();
  EXPECT_EQ(admitted, 1);
}

}  // namespace
}  // namespace parley::base
