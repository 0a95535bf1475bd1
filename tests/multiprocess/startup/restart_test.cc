// Ranks that fail or die in init() and are started again while the others wait.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>

#include "tests/multiprocess/startup/launched_store.h"
#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

void await_keys(Store& store, const std::string& prefix, std::size_t count) {
  await([&] { return store.key_count(prefix) >= count; }, prefix);
}

// The status of a process that runs `body` and dies of it, at the latest.
int run_and_end(const std::function<void()>& body) {
  const pid_t process = fork();
  if (process == 0) {
    try {
      body();
    } catch (const std::exception&) {
    }
    _exit(1);
  }
  int status = -1;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

// This process takes its rank, publishes its card and is killed.
void die_after_card(int rank) {
  std::thread killer([rank] {
    try {
      const std::string card = "parley/1/card/" + std::to_string(rank);
      open_store()->wait({&card, 1});
    } catch (const std::exception&) {
    }
    kill(getpid(), SIGKILL);
  });
  init();
  killer.join();
}

void expect_whole(ProcessGroup& world) {
  const int size = world.size();
  int got = -1;
  const int own = world.rank();
  world.sendrecv(std::span(&own, 1), (own + 1) % size, std::span(&got, 1), (own + size - 1) % size);
  expect_equal(got, (own + size - 1) % size, "value");
  world.barrier();
}

const RanksOptions within_a_minute{.environment = {{"PARLEY_INIT_TIMEOUT", "55s"}}};

// It cannot listen at the address it was given, and learns of that when it has its rank.
void fail_to_join() {
  InitOptions options;
  options.host = "192.0.2.1";
  expect_throws<Error>([&] { init(options); });
}

TEST(Restart, AProcessWhoseInitFailedTriesAgain) {
  const int code = run_ranks(
      2,
      [&](int rank, int) {
        if (rank == 1) fail_to_join();
        ProcessGroup world = init();
        expect_whole(world);
      },
      within_a_minute);
  EXPECT_EQ(code, 0);
}

TEST(Restart, AProcessWhoseInitFailedIsFollowedByAnother) {
  const int code = run_ranks(
      2,
      [&](int rank, int) {
        if (rank == 1) run_and_end(fail_to_join);
        ProcessGroup world = init();
        expect_whole(world);
      },
      within_a_minute);
  EXPECT_EQ(code, 0);
}

// Rank 2 is still to come.
TEST(Restart, AProcessThatWasKilledAfterItsCardIsFollowedByAnother) {
  const SharedPage<std::atomic<bool>> killed;
  const int code = run_ranks(
      3,
      [&](int rank, int) {
        if (rank == 1) {
          const int status = run_and_end([] { die_after_card(1); });
          expect(WIFSIGNALED(status), "killed");
          await_keys(*open_store(), "parley/1/card/", 2);
          *killed = true;
        }
        if (rank == 2) await([&] { return killed->load(); }, "the kill");
        ProcessGroup world = init();
        expect_whole(world);
      },
      within_a_minute);
  EXPECT_EQ(code, 0);
}

// All cards are there and were read, one of them that of a dead process.
TEST(Restart, ThoseWhoHaveReadAStaleCardLearnTheNewOne) {
  const SharedPage<std::atomic<bool>> killed;
  const int code = run_ranks(
      3,
      [&](int rank, int) {
        if (rank == 1) {
          const int status = run_and_end([] { die_after_card(1); });
          expect(WIFSIGNALED(status), "killed");
          *killed = true;
          await_keys(*open_store(), "parley/1/confirmed/", 2);
        } else {
          // Not before: it would confirm the list, too, if it lived on for a moment.
          await([&] { return killed->load(); }, "the kill");
        }
        ProcessGroup world = init();
        expect_whole(world);
      },
      within_a_minute);
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
