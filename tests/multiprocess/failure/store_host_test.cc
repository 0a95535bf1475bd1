// kill -9 of the rank that hosts the store: it is a rank like any other for those who need it, and no loss
// for those who do not.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/failure/traffic.h"
#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

constexpr int world_size = 4;
constexpr int host = 0;

void expect_names_the_host(const PeerDiedError& error) {
  expect_equal(error.details().culprit, host, "culprit");
  expect_contains(error.what(), "rank 0 (");
  expect(error.details().pid > 1, "the process is named");
}

// Among those who are left.
void exchange(ProcessGroup& world, bool any) {
  const int next = world.rank() % (world_size - 1) + 1;
  const int previous = (world.rank() + 1) % (world_size - 1) + 1;
  for (const std::size_t count : {1U, 10'000U, 200'000U}) {
    const std::vector<int> out(count, world.rank());
    std::vector<int> in(count);
    const RecvStatus status = world.sendrecv(out, next, in, any ? any_source : previous);
    expect_equal(status.source, previous, "source");
    expect(in == std::vector<int>(count, previous), "content");
  }
}

// Leaving waits for no store that is gone, nor for the one that hosted it.
void expect_leaves_soon() {
  const auto begin = now();
  destroy();
  expect(now() - begin < (long_tests() ? 6s : 20s) * slowness(), "destroy() returns");
}

TEST(StoreHost, TheSurvivorsNameItAndGoOn) {
  const SharedPage<std::atomic<int>> passed;
  const std::string address = free_address();
  const std::string second_address = free_address();
  const int code = run_ranks(world_size, [&](int rank, int) {
    std::signal(SIGTERM, SIG_IGN);  // spawn() asks the survivors to end
    {
      ProcessGroup world = join(address, rank, world_size);
      barrier_before_death(world, host);
      if (rank == host) die();
      expect_names_the_host(expect_throws<PeerDiedError>([&] { world.recv<int>(host); }));
      expect_names_the_host(expect_throws<PeerDiedError>([&] {
        for (;;) world.send(1, host);
      }));
      expect_names_the_host(expect_throws<PeerDiedError>([&] { world.barrier(); }));
      exchange(world, false);
      expect_names_the_host(expect_throws<PeerDiedError>([&] { world.recv<int>(any_source, {.tag = 5}); }));
      world.acknowledge_failures();
      exchange(world, true);
      exchange(world, false);
      expect_leaves_soon();
    }
    // The survivors can make a world of their own.
    ProcessGroup world = join(second_address, rank - 1, world_size - 1);
    world.barrier();
    int got = -1;
    const int own = world.rank();
    world.sendrecv(std::span(&own, 1), (own + 1) % (world_size - 1), std::span(&got, 1), any_source);
    expect_equal(got, (own + 2) % (world_size - 1), "a value in the new world");
    ++*passed;
  });
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_EQ(*passed, world_size - 1);
}

void run_rank(const std::string& address, int rank, Traffic traffic, std::uint64_t seed,
              std::atomic<int>& passed) {
  std::signal(SIGTERM, SIG_IGN);
  ProcessGroup world = join(address, rank, world_size);
  barrier_before_death(world, host);
  if (rank == host) {
    std::thread([seed] {
      std::this_thread::sleep_for(std::chrono::microseconds(Random(seed).below(30'000)));
      die();
    }).detach();
  }
  expect_names_the_host(expect_throws<PeerDiedError>([&] { run_traffic(world, traffic, seed); }));
  expect_leaves_soon();
  ++passed;
}

TEST(StoreHost, AtARandomMomentOfAnyTrafficItIsNamedAndNobodyHangs) {
  std::uint64_t seed = 600;
  for (const Traffic traffic :
       {Traffic::ring, Traffic::permutation, Traffic::all_to_all, Traffic::barriers, Traffic::any_source}) {
    for (int kill_number = 0; kill_number < (long_tests() ? 40 : 2); ++kill_number, ++seed) {
      const SharedPage<std::atomic<int>> passed;
      const std::string address = free_address();
      const int code =
          run_ranks(world_size, [&](int rank, int) { run_rank(address, rank, traffic, seed, *passed); });
      ASSERT_EQ(code, killed_exit_code) << name_of(traffic) << ", seed " << seed;
      ASSERT_EQ(*passed, world_size - 1) << name_of(traffic) << ", seed " << seed;
    }
  }
}

// While the others are still on their way into the world: an error for all of them, soon.
TEST(StoreHost, WhoJoinsFindsOutThatItIsGone) {
  const SharedPage<std::atomic<int>> passed;
  const std::string address = free_address();
  const int code = run_ranks(3,
                             [&](int rank, int) {
                               std::signal(SIGTERM, SIG_IGN);
                               if (rank == host) {
                                 std::thread([] {
                                   std::this_thread::sleep_for(300ms);
                                   die();
                                 }).detach();
                               }
                               if (rank == 2) return;  // never joins, so that nobody gets in
                               const auto begin = now();
                               const auto error = expect_throws<Error>([&] { (void)join(address, rank, 3); });
                               expect_contains(error.what(), address.substr(std::string("tcp://").size()));
                               expect(now() - begin < 30s * slowness(), "soon after the deadline");
                               ++*passed;
                             },
                             {.environment = {{"PARLEY_INIT_TIMEOUT", "2s"}}});
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_EQ(*passed, 1);
}

}  // namespace
}  // namespace parley::testing
