// A rank belongs to one process, and all ranks to a world of one size.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>

#include "tests/multiprocess/startup/launched_store.h"
#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

void become(int rank, int size) {
  unsetenv("LOCAL_RANK");
  unsetenv("LOCAL_WORLD_SIZE");
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("WORLD_SIZE", std::to_string(size).c_str(), 1);
}

void expect_refusal(const std::string& text) {
  const auto begin = std::chrono::steady_clock::now();
  const auto error = expect_throws<InitError>([] { init(); });
  expect_contains(error.what(), text);
  expect_contains(error.what(), "pid ");
  expect(std::chrono::steady_clock::now() - begin < (long_tests() ? 1s : 20s) * slowness(), "at once");
  expect(!is_initialized(), "no world");
}

// Process 2 was started as a second rank 1.
TEST(Claims, ASecondProcessOfARankIsRefusedAndTheFirstLeftAlone) {
  const SharedPage<std::atomic<int>> step;
  const int code = run_ranks(3, [&](int process, int) {
    if (process == 2) {
      become(1, 2);
      await([&] { return *step == 2; }, "the right ranks");
      expect_refusal("rank 1 is taken: by another process (");
      *step = 3;
      return;
    }
    become(process, 2);
    for (int round = 0; round < 2; ++round) {
      ProcessGroup world = init();
      world.barrier();
      ++*step;
      if (round == 0) await([&] { return *step >= 3; }, "the refusal");
      world.barrier();
      destroy();
    }
  });
  EXPECT_EQ(code, 0);
}

TEST(Claims, RanksOfWorldsOfDifferentSizesAreTold) {
  const SharedPage<std::atomic<bool>> refused;
  const int code =
      run_ranks(2,
                [&](int process, int) {
                  if (process == 0) {
                    const auto error = expect_throws<InitError>([] { init(); });
                    expect_contains(error.what(), "missing ranks: 1; joined: 0; refused: rank 1 (");
                    expect_contains(error.what(), ") came with world size 3");
                    return expect(*refused, "rank 1 was told why");
                  }
                  await([&] { return open_store()->key_count("parley/1/card/") == 1; }, "rank 0");
                  become(1, 3);
                  expect_refusal("different sizes: 3 ranks, says rank 1 (");
                  *refused = true;
                },
                {.environment = {{"PARLEY_INIT_TIMEOUT", std::to_string(5 * slowness()) + "s"}}});
  EXPECT_EQ(code, 0);
}

// Two processes were started as rank 1, and none as rank 2.
TEST(Claims, ThoseWhoWaitAreToldOfASecondProcessOfARank) {
  const int code =
      run_ranks(3,
                [](int process, int) {
                  if (process == 2) {
                    become(1, 3);
                    await([&] { return open_store()->key_count("parley/1/card/") == 2; }, "the right ranks");
                    return expect_refusal("rank 1 is taken: by another process (");
                  }
                  const auto error = expect_throws<InitError>([] { init(); });
                  expect_contains(error.what(), "missing ranks: 2; joined: 0, 1; refused: another process (");
                  expect_contains(error.what(), ") came as rank 1");
                },
                {.environment = {{"PARLEY_INIT_TIMEOUT", std::to_string(5 * slowness()) + "s"}}});
  EXPECT_EQ(code, 0);
}

// A process that leaves gives its rank to whoever comes next.
TEST(Claims, ARankThatWasLeftIsFree) {
  const SharedPage<std::atomic<int>> step;
  const int code = run_ranks(4, [&](int process, int) {
    const bool comes_later = process >= 2;
    become(process % 2, 2);
    if (comes_later) await([&] { return *step == 2; }, "the end of the first world");
    {
      ProcessGroup world = init();
      world.barrier();
    }
    ++*step;
    if (!comes_later) await([&] { return *step == 4; }, "the second world");  // and lives meanwhile
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
