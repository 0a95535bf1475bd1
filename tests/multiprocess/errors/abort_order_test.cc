// A rank that leaves because of an abort must not be taken for its cause.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <string>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

struct Room {
  std::atomic<int> through{0};  // ranks that have left the barrier
  std::atomic<pid_t> waiter{0};
  std::atomic<bool> stopped{false};
  std::atomic<bool> aborted{false};
};

// "R", "S", "T": the state of a process, from /proc.
bool is_stopped(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto end = text.rfind(')');
  return end != std::string::npos && text.compare(end + 2, 1, "T") == 0;
}

// Rank 2 waits for rank 0 and is stopped meanwhile. Rank 1 aborts; rank 0 hears of it and leaves. When rank 2
// goes on, it has to read both rank 0's goodbye and rank 1's abort, in whichever order.
TEST(Abort, IsWhatEndsAWaitForARankThatLeftBecauseOfIt) {
  const SharedPage<Room> room;
  const int code = run_ranks(3, [&](int rank, int) {
    ProcessGroup world = init();
    world.barrier();
    ++room->through;
    if (rank == 2) {
      room->waiter = getpid();
      const auto error = expect_throws<AbortedError>([&] { world.recv<int>(0); });
      expect_equal(error.details().culprit, 1, "culprit");
      expect_contains(error.what(), "enough");
      expect_throws<AbortedError>([&] { world.send(1, 0); });
    } else if (rank == 1) {
      await([&] { return room->stopped.load(); }, "rank 2 is stopped");
      world.abort("enough");
      destroy();
      room->aborted = true;
    } else {
      // A stopped rank would keep the others in the barrier.
      await([&] { return room->through == 3 && room->waiter != 0; }, "all are through the barrier");
      kill(room->waiter, SIGSTOP);
      await([&] { return is_stopped(room->waiter); }, "rank 2 is stopped");
      room->stopped = true;
      expect_throws<AbortedError>([&] { world.recv<int>(1); });
      destroy();
      await([&] { return room->aborted.load(); }, "rank 1 has left");
      kill(room->waiter, SIGCONT);
    }
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
