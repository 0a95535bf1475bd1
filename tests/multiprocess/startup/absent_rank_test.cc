// A rank that comes to nothing when the world is made, but its links are not yet.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "tests/multiprocess/startup/launched_store.h"
#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "tests/unit/api/watched_store.h"

namespace parley::testing {
namespace {

// Nobody learns of it from a deadline, which is after the watchdog's. All links are part of init().
const RanksOptions without_a_deadline{
    .environment = {{"PARLEY_INIT_TIMEOUT", "1h"}, {"PARLEY_FULL_MESH_LIMIT", "32"}}};

// Joins through the launched store. Once this rank has set its card and its confirmation, and if it is rank 0
// made the world, which goes by the first list, the others do not ask it again; then `end` is called, once.
void join_up_to(int rank, int size, std::function<void()> end) {
  const auto store = std::make_shared<WatchedStore>(open_store());
  const std::string last_call = rank == 0 ? "compare_set" : "wait";
  store->on_call([=, &store = *store](const std::string& name, const auto& keys) mutable {
    if (!end || name != last_call || store.calls_of("set") != 2) return;
    if (rank == 0) store.inner()->set_string(keys.at(0), "0");
    std::exchange(end, nullptr)();
  });
  InitOptions options;
  options.store = store;
  options.host = "127.0.0.1";
  options.rank = rank;
  options.world_size = size;
  init(options);
}

// In a process of its own, which is reaped: nothing is left of it but what it has said.
void join_and_die(int rank, int size) {
  const pid_t process = fork();
  if (process == 0) {
    try {
      join_up_to(rank, size, [] { kill(getpid(), SIGKILL); });
    } catch (const std::exception&) {
    }
    _exit(1);
  }
  int status = -1;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  expect(WIFSIGNALED(status), "killed before it was linked");
}

// Some of the others dial it, and some wait for its dial.
TEST(AbsentRank, ThatWasKilledBeforeItWasLinkedIsNamedByAll) {
  constexpr int size = 4;
  for (const int victim : {0, 1, size - 1}) {
    const int code = run_ranks(
        size,
        [&](int rank, int) {
          if (rank == victim) return join_and_die(rank, size);
          const auto error = expect_throws<InitError>([&] { join_up_to(rank, size, {}); });
          expect_contains(error.what(), "could not link to all ranks");
          expect_contains(error.what(), "rank " + std::to_string(victim) + " (");
          expect_equal(error.details().culprit, victim, "culprit");
        },
        without_a_deadline);
    EXPECT_EQ(code, 0) << "victim " << victim;
  }
}

// Its process lives, and only the store tells that it has failed.
TEST(AbsentRank, ThatHasFailedIsNamed) {
  const SharedPage<std::atomic<bool>> is_told;
  const int code = run_ranks(
      2,
      [&](int rank, int size) {
        if (rank == 1) {
          expect_throws<StoreError>(
              [&] { join_up_to(rank, size, [] { throw StoreError("out of order"); }); });
          return await([&] { return is_told->load(); }, "the other rank");
        }
        const auto error = expect_throws<InitError>([&] { join_up_to(rank, size, {}); });
        expect_contains(error.what(), "rank 1 (");
        expect_contains(error.what(), "it has given up its rank");
        expect_equal(error.details().culprit, 1, "culprit");
        *is_told = true;
      },
      without_a_deadline);
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
