// Worlds come and go; no descriptor and no thread stays behind.

#include <gtest/gtest.h>
#include <malloc.h>
#include <parley/parley.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/multiprocess/resources/inventory.h"
#include "tests/multiprocess/support/flatness.h"
#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

int cycles() {
  return long_tests() ? 500 : 50;
}

// A thread that has been joined may be listed for a moment longer.
void expect_threads(int count, const std::string& when) {
  const auto end = std::chrono::steady_clock::now() + 10s * slowness();
  while (thread_count() != count) {
    if (std::chrono::steady_clock::now() > end) expect_equal(thread_count(), count, "threads " + when);
  }
}

void expect_descriptors(const std::set<int>& before, const std::string& when) {
  for (const int fd : open_descriptors())
    expect(before.contains(fd),
           "descriptor " + std::to_string(fd) + " (" + name_of_descriptor(fd) + ") is left " + when);
}

// The first cycle may open what the process keeps for good; none after it may.
void expect_nothing_left(const std::function<void(int cycle)>& cycle) {
  cycle(0);
  const std::set<int> descriptors = open_descriptors();
  const int threads = thread_count();
  for (int number = 1; number <= cycles(); ++number) {
    cycle(number);
    expect_descriptors(descriptors, "after cycle " + std::to_string(number));
    expect_threads(threads, "after cycle " + std::to_string(number));
  }
}

// Eager and offered, with the background thread about.
void exchange(ProcessGroup& world) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{300'000}}) {
    const std::vector<std::byte> out(bytes);
    std::vector<std::byte> in(bytes);
    Work received = world.irecv(in, (world.rank() + 1) % world.size());
    Work sent = world.isend(out, (world.rank() + world.size() - 1) % world.size());
    received.wait();
    sent.wait();
  }
}

TEST(Leaks, WorldsWhoseStoreTheLauncherServes) {
  const int code = run_ranks(3, [](int, int) {
    expect_nothing_left([](int cycle) {
      ProcessGroup world = init();
      exchange(world);
      if (cycle % 2 == 0) destroy();  // else the last handle does it
    });
  });
  EXPECT_EQ(code, 0);
}

void expect_nothing_left_of_worlds_whose_store_rank_0_serves(const RanksOptions& options) {
  const std::string address = free_address();
  const int code = run_ranks(
      3,
      [&](int rank, int count) {
        expect_nothing_left([&](int) {
          ProcessGroup world = join(address, rank, count);
          exchange(world);
          destroy();
        });
      },
      options);
  EXPECT_EQ(code, 0);
}

TEST(Leaks, WorldsWhoseStoreRank0Serves) {
  expect_nothing_left_of_worlds_whose_store_rank_0_serves({});
}

// Who comes again at once is a client of a store that only waits for everybody to leave.
TEST(Leaks, WorldsOnDemandWhoseStoreRank0Serves) {
  expect_nothing_left_of_worlds_whose_store_rank_0_serves(on_demand);
}

TEST(Leaks, WorldsOfOne) {
  const int code = run_ranks(1, [](int, int) {
    forget_environment();
    expect_nothing_left([](int) {
      ProcessGroup world = init();
      exchange(world);
    });
  });
  EXPECT_EQ(code, 0);
}

// The other rank never comes.
void fail_to_join(const std::string& address, int rank) {
  InitOptions options;
  options.init_timeout = 20ms;
  options.method = address + "?rank=" + std::to_string(rank) + "&world_size=2";
  expect_throws<Error>([&] { init(options); });
}

TEST(Leaks, AnInitWithoutAStoreLeavesNothing) {
  const std::string address = free_address();
  const int code = run_ranks(1, [&](int, int) {
    forget_environment();
    expect_nothing_left([&](int) { fail_to_join(address, 1); });
  });
  EXPECT_EQ(code, 0);
}

TEST(Leaks, AnInitThatServesTheStoreInVainLeavesNothing) {
  const std::string address = free_address();
  const int code = run_ranks(1, [&](int, int) {
    forget_environment();
    expect_nothing_left([&](int) { fail_to_join(address, 0); });
  });
  EXPECT_EQ(code, 0);
}

// A sanitizer's allocator tells nothing; there the leak checker looks.
std::size_t allocated_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Thousands of connections made and closed: neither the ranks nor the process that serves their store keep
// anything of them. Counted where both ranks are in a world, so that what is open does not hang on who is
// faster.
TEST(Leaks, ConnectionsLeaveDescriptorsThreadsAndMemoryFlat) {
  constexpr std::size_t most_growth = std::size_t{2} << 20;
  const int warm_up = 100;
  const int worlds = long_tests() ? 10'000 : 300;
  const int code = run_ranks(2,
                             [&](int rank, int) {
                               Flatness own, store(getppid());
                               std::size_t before = 0;
                               for (int number = 0; number < worlds; ++number) {
                                 if (number == warm_up) before = allocated_bytes();
                                 ProcessGroup world = init();
                                 if (number == warm_up) {
                                   own.begin();
                                   store.begin();
                                 } else if (number > warm_up && (number + 1) % 100 == 0) {
                                   own.expect_as_before(most_growth);
                                   store.expect_as_before(most_growth);
                                 }
                                 if (number + 1 == worlds) {
                                   own.report("a rank");
                                   if (rank == 0) store.report("the store");
                                 }
                                 int got = -1;
                                 world.sendrecv(std::span(&rank, 1), 1 - rank, std::span(&got, 1), 1 - rank);
                               }
                               const std::size_t growth = std::max(allocated_bytes(), before) - before;
                               expect(growth < 64 * 1024, "grown by " + std::to_string(growth) + " bytes");
                             },
                             {.timeout = 600s});
  EXPECT_EQ(code, 0);
}

// Operations that are pending, and a world that ends by an exception.
TEST(Leaks, AnAbortedWorldLeavesNothing) {
  const int code = run_ranks(2, [](int rank, int) {
    expect_nothing_left([&](int) {
      ProcessGroup world = init();
      int value = 0;
      Work work;
      expect_throws<AbortedError>([&] {
        world.barrier();  // the abort may come before rank 1 has left it
        work = world.irecv(std::span(&value, 1), 1 - rank);
        if (rank == 0) world.abort("enough");
        work.wait();
      });
    });
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
