// Ranks that come late or not at all: who is missed is said, every 10 s and at the deadline.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

// Rank 1 comes when rank 0 has complained about it.
TEST(MissingRanks, AreNamedAfter10SecondsAndMayStillCome) {
  const SharedPage<std::atomic<bool>> reminded;
  const int code = run_ranks(2, [&](int rank, int) {
    if (rank == 1) {
      await([&] { return reminded->load(); }, "rank 0's reminder", 60s);
      init().barrier();
      return;
    }
    // The sink must not block and cannot call Parley; it only passes on that the line was there.
    std::chrono::nanoseconds at{0};
    const auto begin = now();
    set_log_sink([&](const LogRecord& record) {
      if (record.message.find("missing ranks: 1; joined: 0") == std::string_view::npos) return;
      if (record.level != LogLevel::warn || record.subsystem != "init" || record.rank != 0) return;
      at = now();
      *reminded = true;
    });
    ProcessGroup world = init();
    set_log_sink({});
    world.barrier();
    expect(at - begin >= 9s, "the reminder does not come before its time");
    expect(at - begin < (long_tests() ? 12s : 50s) * slowness(), "the reminder comes in time");
  });
  EXPECT_EQ(code, 0);
}

TEST(MissingRanks, AreNamedInTheErrorAtTheDeadlineBesideThoseThatJoined) {
  const int code = run_ranks(5, [](int rank, int) {
    if (rank == 1 || rank == 3) return;
    InitOptions options;
    options.init_timeout = 2s * slowness();
    const auto begin = now();
    const auto error = expect_throws<InitError>([&] { init(options); });
    expect(now() - begin >= *options.init_timeout, "not before the deadline");
    expect_contains(error.what(), "rank " + std::to_string(rank) + " of 5");
    expect_contains(error.what(), "missing ranks: 1, 3; joined: 0, 2, 4");
    expect_equal(error.details().rank, rank, "rank");
    expect_contains(error.details().operation, "init");
    expect(!is_initialized(), "no world");
  });
  EXPECT_EQ(code, 0);
}

// Rank 0 holds the store for the others until they have found out, too.
TEST(MissingRanks, AreNamedByThoseWhoseStoreRank0Serves) {
  const std::string address = free_address();
  const int code =
      run_ranks(3,
                [&](int rank, int count) {
                  if (rank == 1) return;
                  const auto error = expect_throws<InitError>([&] { (void)join(address, rank, count); });
                  expect_contains(error.what(), "missing ranks: 1; joined: 0, 2");
                },
                {.environment = {{"PARLEY_INIT_TIMEOUT", std::to_string(2 * slowness()) + "s"}}});
  EXPECT_EQ(code, 0);
}

TEST(MissingRanks, TheDeadlineComesFromTheEnvironment) {
  const int code = run_ranks(2,
                             [](int rank, int) {
                               if (rank == 1) return;
                               const auto begin = now();
                               const auto error = expect_throws<InitError>([] { init(); });
                               expect_contains(error.what(), "missing ranks: 1; joined: 0");
                               expect(now() - begin < 30s * slowness(), "long before 5 minutes");
                             },
                             {.environment = {{"PARLEY_INIT_TIMEOUT", "500ms"}}});
  EXPECT_EQ(code, 0);
}

// The missing rank is the one that would serve the store.
TEST(MissingRanks, AStoreThatNobodyServesIsNamedByItsAddress) {
  const std::string address = free_address();
  const int code = run_ranks(1,
                             [&](int, int) {
                               const auto error =
                                   expect_throws<StoreTimeoutError>([&] { (void)join(address, 1, 2); });
                               expect_contains(error.what(), address.substr(std::string("tcp://").size()));
                               expect(!is_initialized(), "no world");
                             },
                             {.environment = {{"PARLEY_INIT_TIMEOUT", "500ms"}}});
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
