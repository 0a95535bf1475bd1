// Ranks that link when they first need it, as those of large worlds do.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

std::ptrdiff_t open_sockets() {
  std::ptrdiff_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry, gone).string().starts_with("socket:")) ++count;
  }
  return count;
}

// Those of dials that were turned away, of which one may still come in, go with the next look at the network.
void expect_links(ProcessGroup& world, std::ptrdiff_t before, std::ptrdiff_t links) {
  const auto end = std::chrono::steady_clock::now() + 10s * slowness();
  std::ptrdiff_t found = open_sockets() - before;
  while (found != links && std::chrono::steady_clock::now() < end) {
    world.progress();
    std::this_thread::yield();
    found = open_sockets() - before;
  }
  expect_equal(found, links, "links");
}

void exchange_with_all(ProcessGroup& world) {
  const int rank = world.rank();
  const int size = world.size();
  std::vector<int> from(static_cast<std::size_t>(size), -1);
  std::vector<Work> works;
  for (int other = 0; other < size; ++other)
    works.push_back(world.irecv(from[static_cast<std::size_t>(other)], other));
  for (int other = 0; other < size; ++other) works.push_back(world.isend(rank, other));
  wait_all(works);
  for (int other = 0; other < size; ++other)
    expect_equal(from[static_cast<std::size_t>(other)], other, "value");
}

// Everybody is here; no link is made.
void meet(std::atomic<int>& arrived, int everybody) {
  ++arrived;
  while (arrived < everybody) std::this_thread::sleep_for(1ms);
}

TEST(OnDemand, TwoThatDialEachOtherGetOneLink) {
  constexpr int rounds = 20;
  const SharedPage<std::array<std::atomic<int>, rounds>> arrived;
  const int code = run_ranks(
      5,
      [&](int, int count) {
        for (int round = 0; round < rounds; ++round) {
          ProcessGroup world = init();
          const std::ptrdiff_t before = open_sockets();
          meet((*arrived)[static_cast<std::size_t>(round)], count);
          exchange_with_all(world);
          expect_links(world, before, count - 1);
          world.barrier();
          destroy();
        }
      },
      on_demand);
  EXPECT_EQ(code, 0);
}

TEST(OnDemand, ALargeWorldHasTheLinksThatItUses) {
  const SharedPage<std::array<std::atomic<int>, 2>> arrived;
  const int code = run_ranks(34,
                             [&](int rank, int count) {
                               ProcessGroup world = init();
                               const std::ptrdiff_t before = open_sockets();
                               meet((*arrived)[0], count);
                               int got = -1;
                               const int above = (rank + 1) % count;
                               const int below = (rank + count - 1) % count;
                               world.sendrecv(std::span(&rank, 1), above, std::span(&got, 1), below);
                               expect_equal(got, below, "value");
                               expect_links(world, before, 2);
                               meet((*arrived)[1], count);
                               world.barrier();
                             },
                             {.timeout = 120s});
  EXPECT_EQ(code, 0);
}

// Rank 1 computes, and is linked all the same before it is done.
TEST(OnDemand, ARankThatCallsNothingIsLinkedTo) {
  const SharedPage<std::atomic<bool>> sent;
  const int code = run_ranks(
      2,
      [&](int rank, int) {
        ProcessGroup world = init();
        if (rank == 0) {
          world.send(7, 1);
          *sent = true;
        } else {
          const auto end = std::chrono::steady_clock::now() + 30s * slowness();
          while (!*sent && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
          expect(*sent, "sent while the receiver called nothing");
          expect_equal(world.recv<int>(0), 7, "value");
        }
      },
      on_demand);
  EXPECT_EQ(code, 0);
}

TEST(OnDemand, ADeathIsNoticedByThoseWhoNeedTheDead) {
  const SharedPage<std::atomic<int>> named;
  const int code = run_ranks(
      4,
      [&](int rank, int) {
        std::signal(SIGTERM, SIG_IGN);  // outlives the victim
        ProcessGroup world = init();
        if (rank == 3) {
          world.recv<int>(2);
          kill(getpid(), SIGKILL);
        }
        if (rank == 2) world.send(1, 3);
        // Rank 0 waits from the start, rank 1 sends to somebody who was never linked to it and is dead by
        // then, rank 2 loses a link.
        if (rank == 1) std::this_thread::sleep_for(500ms);
        const auto error = expect_throws<PeerDiedError>([&] {
          if (rank == 1) world.send(1, 3);
          world.recv<int>(3);
        });
        expect_equal(error.details().culprit, 3, "culprit");
        ++*named;
      },
      on_demand);
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_EQ(*named, 3);
}

TEST(OnDemand, AnAbortReachesRanksWithoutALink) {
  const SharedPage<std::atomic<int>> told;
  const int code = run_ranks(
      4,
      [&](int rank, int) {
        ProcessGroup world = init();
        if (rank == 0) {
          std::this_thread::sleep_for(200ms);
          world.abort("enough");
        }
        const auto error = expect_throws<AbortedError>([&] { world.recv<int>(any_source); });
        expect_contains(error.what(), "enough");
        expect_equal(error.details().culprit, 0, "culprit");
        ++*told;
        while (*told != 4) std::this_thread::sleep_for(1ms);
      },
      on_demand);
  EXPECT_EQ(code, 0);
}

// The link that this needs is made while exit() runs.
TEST(OnDemand, WhatWasSentRightBeforeTheEndOfTheProcessArrives) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        static auto& world = *new ProcessGroup(init());  // not dropped by exit()
        if (rank == 0) {
          std::this_thread::sleep_for(300ms);
          return expect_equal(world.recv<int>(1), 7, "value");
        }
        const auto value = std::make_shared<int>(7);
        world.isend(*value, 0).detach(value);
        std::exit(0);
      },
      on_demand);
  EXPECT_EQ(code, 0);
}

// Rank 0 has left in good order, rank 1 because of rank 2's death, before the others met them.
TEST(OnDemand, WhatBecameOfARankThatWasNeverMetIsKnown) {
  const SharedPage<std::atomic<int>> step;
  const int code = run_ranks(
      4,
      [&](int rank, int) {
        std::signal(SIGTERM, SIG_IGN);  // outlives the victim
        const auto await = [&](int number) {
          while (*step < number) std::this_thread::sleep_for(1ms);
        };
        ProcessGroup world = init();
        if (rank == 0) {
          destroy();
          *step = 1;
        } else if (rank == 1) {
          await(1);
          world.send(1, 2);
          expect_throws<PeerDiedError>([&] { world.recv<int>(2); });
          destroy();
          *step = 2;
        } else if (rank == 2) {
          world.recv<int>(1);
          kill(getpid(), SIGKILL);
        } else {
          await(2);
          const auto left = expect_throws<PeerLeftError>([&] { world.send(1, 0); });
          expect_equal(left.details().culprit, 0, "who left");
          const auto died = expect_throws<PeerDiedError>([&] { world.recv<int>(1); });
          expect_equal(died.details().culprit, 2, "who died");
          *step = 3;
        }
      },
      on_demand);
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_EQ(*step, 3);
}

// The aborter does not stay to see that all have heard.
TEST(OnDemand, AnAbortReachesAllAlthoughTheAborterLeavesAtOnce) {
  const SharedPage<std::atomic<int>> told;
  const int code = run_ranks(
      4,
      [&](int rank, int) {
        ProcessGroup world = init();
        if (rank == 0) {
          world.abort("enough");
          return destroy();
        }
        expect_throws<AbortedError>([&] { world.recv<int>(any_source); });
        ++*told;
      },
      on_demand);
  EXPECT_EQ(code, 0);
  EXPECT_EQ(*told, 3);
}

TEST(OnDemand, RanksThatNeverMeetLeaveInGoodOrder) {
  const auto begin = std::chrono::steady_clock::now();
  const int code = run_ranks(
      4, [](int, int) { const ProcessGroup world = init(); }, on_demand);
  EXPECT_EQ(code, 0);
  // Nobody waits for goodbyes of ranks without a link.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, (long_tests() ? 3s : 20s) * slowness());
}

}  // namespace
}  // namespace parley::testing
