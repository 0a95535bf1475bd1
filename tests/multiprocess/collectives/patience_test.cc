// A rank that is stopped, or comes late, is waited for; after a while those who wait say so.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include "tests/multiprocess/collectives/mix.h"
#include "tests/multiprocess/support/log_lines.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

TEST(CollectivePatience, ARankThatStopsFor2SecondsRaisesNothing) {
  const SharedPage<std::atomic<pid_t>> stopped;
  const SharedPage<std::atomic<bool>> over;
  const int code = run_ranks(3, [&](int rank, int) {
    ProcessGroup world = init();
    if (rank == 1) *stopped = getpid();
    world.barrier();
    std::thread stopper;
    if (rank == 0)
      stopper = std::thread([&] {
        std::this_thread::sleep_for(20ms);
        kill(*stopped, SIGSTOP);
        std::this_thread::sleep_for(2s);
        kill(*stopped, SIGCONT);
        *over = true;
      });
    Random random(5);
    for (std::vector<int> goes_on(1, 1); goes_on[0] != 0;) {
      run_mixed_call(world, random);
      goes_on[0] = *over ? 0 : 1;
      world.broadcast(goes_on, 0);  // rank 0 decides
    }
    if (stopper.joinable()) stopper.join();
  });
  EXPECT_EQ(code, 0);
}

// Rank 1 only sends, by messages, and is in the barrier, on the boards, while rank 0 still waits for rank 2:
// as many calls apart as the numbers of calls began anew after.
TEST(CollectivePatience, WhoIs256CallsAheadIsInNoOtherCall) {
  const int code = run_ranks(3, [](int rank, int ranks) {
    ProcessGroup world = init();
    for (int i = 0; i < 10; ++i) world.barrier();  // they have boards now
    if (rank == 2) std::this_thread::sleep_for(2500ms);
    std::vector<int> value(1, rank), all(static_cast<std::size_t>(ranks));
    for (int call = 0; call < 256; ++call) {
      std::vector<Tensor> blocks;
      for (int& block : all)
        if (rank == 0) blocks.emplace_back(std::span(&block, 1));
      world.gather(blocks, Tensor(std::span(value)), 0, {.uneven = true});
    }
    world.barrier();
  });
  EXPECT_EQ(code, 0);
}

// Rank 2 has waited for more than a second, and finds the root's value and its departure at once.
TEST(CollectivePatience, WhatTheRootPublishesBeforeItLeavesArrives) {
  const SharedPage<std::array<std::atomic<pid_t>, 2>> pids;  // of ranks 0 and 2
  const int code = run_ranks(3, [&](int rank, int) {
    ProcessGroup world = init();
    if (rank != 1) (*pids)[rank == 0 ? 0 : 1] = getpid();
    std::vector<int> value(1);
    for (int i = 0; i < 10; ++i) world.all_reduce(value);  // they have boards now
    if (rank == 1) std::this_thread::sleep_for(1500ms);
    world.reduce(value, 0);
    if (rank == 0) kill((*pids)[1], SIGSTOP);
    value[0] = rank == 0 ? 17 : 0;
    world.broadcast(value, 0);
    expect_equal(value[0], 17, "the root's value");
    if (rank != 1) return;
    std::this_thread::sleep_for(300ms);
    kill((*pids)[1], SIGCONT);
  });
  EXPECT_EQ(code, 0);
}

TEST(CollectivePatience, WhoWaitsFor10SecondsNamesTheCallAndTheRank) {
  const int code = run_ranks(2, [](int rank, int) {
    const LogLines log;
    ProcessGroup world = init();
    std::vector<int> value(1);
    world.all_reduce(value);
    if (rank == 1) std::this_thread::sleep_for(13s);
    world.all_reduce(value, {.op = ReduceOp::max});
    const auto warnings = log.with("for 10 s");
    expect_equal(warnings.size(), std::size_t(rank == 0 ? 1 : 0), "warnings");
    for (const LogLine& line : warnings)
      expect_contains(
          line.message,
          "rank 0 has been in all_reduce(max) of 1 i32 (call 1 of the group) for 10 s and waits for rank 1");
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
