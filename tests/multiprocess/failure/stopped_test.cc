// A rank that is only stopped, or busy with something else, is not dead.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/log_lines.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

// Stops and continues a process in turns, as it is told; a process of its own.
enum class Turn : int { stop, cont, end };
void stop_in_turns(pid_t process, std::atomic<Turn>& turn) {
  while (turn != Turn::end) {
    std::this_thread::sleep_for(5ms);  // into the middle of something
    kill(process, SIGSTOP);
    while (turn == Turn::stop) std::this_thread::sleep_for(1ms);
    kill(process, SIGCONT);
    while (turn == Turn::cont) std::this_thread::sleep_for(1ms);
  }
}

// The transports that this program tests, without the way in which a receiver needs no help of the sender's.
RanksOptions without_cma() {
  const char* chosen = std::getenv("PARLEY_TRANSPORTS");
  return {.environment = {{"PARLEY_TRANSPORTS", chosen != nullptr ? chosen : "shm,^cma"}}};
}

// Rank 1 stops in the middle of a message, and rank 0 does not wait for the rest: their link is lost, and
// nobody is said to have died.
TEST(Stopped, ADeadlineInMidTransferNamesNobodyDead) {
  const SharedPage<std::atomic<Turn>> turn;
  const auto run_rank = [&](int rank) {
    ProcessGroup world = init();
    std::vector<std::uint8_t> data(std::size_t{64} << 20);
    world.barrier();
    if (rank == 1) {
      const pid_t stopped = getpid();
      if (fork() == 0) {
        stop_in_turns(stopped, *turn);
        _exit(0);
      }
      const auto error = expect_throws<LinkLostError>([&] {
        for (;;) world.send(data, 0);
      });
      expect_equal(error.details().culprit, 0, "who closed it");
      expect_throws<LinkLostError>([&] { world.recv<int>(0); });
    } else if (rank == 0) {
      const auto error = expect_throws<LinkLostError>([&] {
        for (;;) {
          expect_throws<TimeoutError>([&] {
            for (;;) world.recv(data, 1, {.timeout = 300ms});
          });
          *turn = Turn::cont;
          world.recv(data, 1);  // goes well if rank 1 was stopped between two messages: again
          *turn = Turn::stop;
        }
      });
      expect_equal(error.details().culprit, 0, "who closed it");
      *turn = Turn::end;
    }
    // Rank 2 has lost nothing.
    if (rank == 2)
      for (const int other : {0, 1}) expect_equal(world.recv<int>(other), other, "value");
    else
      world.send(rank, 2);
  };
  const int code = run_ranks(
      3, [&](int rank, int) { run_rank(rank); }, without_cma());
  EXPECT_EQ(code, 0);
}

// A stopped process is not a dead one.
TEST(Stopped, AProcessThatStopsFor2SecondsRaisesNothing) {
  const SharedPage<std::atomic<int>> stopped_pid;
  const int code = run_ranks(3, [&](int rank, int count) {
    ProcessGroup world = init();
    if (rank == 1) *stopped_pid = getpid();
    world.barrier();
    std::thread stopper;
    if (rank == 0) {
      stopper = std::thread([&] {
        kill(*stopped_pid, SIGSTOP);
        std::this_thread::sleep_for(2s);
        kill(*stopped_pid, SIGCONT);
      });
    }
    const auto begin = std::chrono::steady_clock::now();
    std::vector<int> value(50'000);
    for (int round = 0;; ++round) {
      value.assign(value.size(), rank + round);
      std::vector<int> got(value.size());
      world.sendrecv(value, (rank + 1) % count, got, (rank + count - 1) % count);
      expect_equal(got.back(), (rank + count - 1) % count + round, "value");
      // Rank 0 decides, so that all stop in the same round.
      const bool over = std::chrono::steady_clock::now() - begin > 2500ms;
      if (rank == 0) {
        for (const int other : {1, 2}) world.send(over, other, {.tag = 1});
        if (over) break;
      } else if (world.recv<bool>(0, {.tag = 1})) {
        break;
      }
    }
    if (stopper.joinable()) stopper.join();
  });
  EXPECT_EQ(code, 0);
}

// Stops another process for a while, and lives to continue it.
void stop_for(pid_t process, std::chrono::milliseconds time) {
  kill(process, SIGSTOP);
  std::this_thread::sleep_for(time);
  kill(process, SIGCONT);
}

// Rank 1 is stopped while rank 0 waits for it in one way and rank 2 in another; all goes on afterwards. Says
// whether those who wait are told.
void stop_rank_1(std::chrono::milliseconds time, bool is_told) {
  const SharedPage<std::atomic<pid_t>> stopped;
  const int code = run_ranks(3, [&](int rank, int) {
    const LogLines log;
    ProcessGroup world = init();
    std::vector<std::uint8_t> large(std::size_t{16} << 20, std::uint8_t{3});
    if (rank == 1) *stopped = getpid();
    world.barrier();
    if (rank == 0) {
      std::thread stopper([&] { stop_for(*stopped, time); });
      world.send(large, 1);  // more than sockets hold
      stopper.join();
    } else if (rank == 1) {
      std::this_thread::sleep_for(200ms);  // is stopped meanwhile
      world.recv(large, 0);
      world.send(7, 2);
    } else {
      expect_equal(world.recv<int>(1), 7, "value");
    }
    world.barrier();
    const std::string name = "rank 1 (";
    const auto warnings = log.with("has not answered for 5 s");
    expect_equal(warnings.size(), std::size_t(is_told && rank != 1 ? 1 : 0), "warnings");
    for (const LogLine& warning : warnings) expect_contains(warning.message, name);
    expect_equal(log.with("answers again").size(), warnings.size(), "ends of suspicion");
  });
  EXPECT_EQ(code, 0);
}

TEST(Stopped, For3SecondsIsNotWorthAWord) {
  stop_rank_1(3s, false);
}

TEST(Stopped, ForLongIsSaidByThoseWhoWaitAndRaisesNothing) {
  stop_rank_1(long_tests() ? 15s : 8s, true);
}

// Rank 1 computes and calls nothing: its process answers all the same.
TEST(Busy, IsNotStopped) {
  const int code = run_ranks(2, [](int rank, int) {
    const LogLines log;
    ProcessGroup world = init();
    if (rank == 1) {
      const auto end = std::chrono::steady_clock::now() + 8s;
      while (std::chrono::steady_clock::now() < end) continue;
      world.send(7, 0);
    } else {
      expect_equal(world.recv<int>(1), 7, "value");
      expect(log.with("has not answered").empty(), "no suspicion");
    }
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
