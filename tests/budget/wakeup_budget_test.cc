// The thread that makes progress while nobody waits sleeps while somebody does.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

// How often a thread of this process has gone to sleep by itself; -1: there is no thread of that name.
long sleeps_of(const std::string& thread_name) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name != thread_name) continue;
    std::ifstream status(task.path() / "status");
    const std::string field = "voluntary_ctxt_switches:";
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(field)) return std::stol(line.substr(field.size()));
  }
  return -1;
}

TEST(WakeUps, BlockingCallsLeaveTheBackgroundThreadToItsPulse) {
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    const auto begin = std::chrono::steady_clock::now();
    for (int round = 0; round < 1000; ++round) {
      if (rank == 0) world.send(round, 1);
      expect_equal(world.recv<int>(1 - rank), round, "round");
      if (rank == 1) world.send(round, 0);
      world.barrier();
    }
    const auto seconds = (std::chrono::steady_clock::now() - begin) / 1s;
    // One each second, and a few for its start and for a lock that it finds taken; none for a message.
    const long sleeps = sleeps_of("parley-progress");
    expect(sleeps <= 20 + seconds, "sleeps of the background thread: " + std::to_string(sleeps));
  });
  EXPECT_EQ(code, 0);
}

TEST(WakeUps, OfTheBackgroundThreadEndWhileSomebodyWaits) {
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    world.barrier();
    if (rank == 1) {
      std::this_thread::sleep_for(2s);
      return world.send(1, 0);
    }
    int value = 0;
    Work work = world.irecv(value, 1);  // wakes the thread
    while (sleeps_of("parley-progress") <= 0) std::this_thread::yield();
    const long before = sleeps_of("parley-progress");
    work.wait();
    // It looks for 20 ms whether it is needed; 2500 looks a second if it went on.
    const long sleeps = sleeps_of("parley-progress") - before;
    expect(sleeps < 500, "sleeps of the background thread in 2 s: " + std::to_string(sleeps));
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
