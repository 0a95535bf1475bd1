// kill -9 of one rank in the middle of random collectives: every survivor names it.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/collectives/mix.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int ranks = 4;
constexpr auto hang_bound = 5s;     // see tests/README.md
constexpr auto promised_time = 1s;  // of full runs

struct Outcome {
  std::atomic<std::int64_t> kill_ns{0};
  std::array<std::atomic<std::int64_t>, ranks> told_ns{};  // 0: nothing, or the wrong thing
};

std::int64_t now_ns() {
  return Clock::now().time_since_epoch().count();
}

void run_rank(int rank, int victim, std::chrono::microseconds after, std::uint64_t seed, Outcome& outcome) {
  std::signal(SIGTERM, SIG_IGN);  // spawn() asks the others to end as soon as one has died
  ProcessGroup world = init();
  barrier_before_death(world, victim);
  if (rank == victim)
    std::thread([after, &outcome] {
      std::this_thread::sleep_for(after);
      outcome.kill_ns = now_ns();
      kill(getpid(), SIGKILL);
    }).detach();
  Random random(seed);
  const auto died = expect_throws<PeerDiedError>([&] {
    for (;;) run_mixed_call(world, random);
  });
  const std::int64_t told = now_ns();
  expect_equal(died.details().culprit, victim, std::string("culprit of: ") + died.what());
  expect(died.details().pid != 0 && !died.details().host.empty(), "its process is named");
  // And so are those of later calls.
  const auto later = expect_throws<PeerDiedError>([&] {
    for (;;) {
      std::vector<int> value(1);
      world.all_reduce(value);
    }
  });
  expect_equal(later.details().culprit, victim, std::string("culprit of: ") + later.what());
  outcome.told_ns[static_cast<std::size_t>(rank)] = told;
  // Half of them leave by an exception, half in a tidy way; neither may be taken for the culprit.
  if (rank % 2 == 0) throw later;
}

TEST(CollectiveKill, EverySurvivorNamesTheVictim) {
  const std::uint64_t kills = long_tests() ? 500 : 20;
  std::chrono::nanoseconds longest{0};
  for (std::uint64_t seed = 1; seed <= kills && !HasFailure(); ++seed) {
    Random random(seed);
    const int victim = static_cast<int>(random.below(ranks));
    const auto after = std::chrono::microseconds(random.below(30'000));
    const SharedPage<Outcome> outcome;
    const int code = run_ranks(ranks, [&](int rank, int) { run_rank(rank, victim, after, seed, *outcome); });
    EXPECT_EQ(code, killed_exit_code) << "seed " << seed;
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank == victim) continue;
      const std::int64_t told = outcome->told_ns[static_cast<std::size_t>(rank)];
      ASSERT_NE(told, 0) << "rank " << rank << ", victim " << victim << ", seed " << seed;
      const std::chrono::nanoseconds took(told - outcome->kill_ns);
      longest = std::max(longest, took);
      EXPECT_LT(took, (long_tests() ? promised_time : hang_bound) * slowness())
          << "rank " << rank << ", seed " << seed;
    }
  }
  std::printf("from kill to error: at most %.1f ms\n",
              std::chrono::duration<double, std::milli>(longest).count());
}

// Ranks 0 and 1 are a group, as are 2 and 3, of which one dies.
TEST(CollectiveKill, DisjointGroupsGoOn) {
  const SharedPage<std::atomic<int>> content;  // survivors that found all as expected
  const int code = run_ranks(ranks, [&](int rank, int) {
    std::signal(SIGTERM, SIG_IGN);
    ProcessGroup world = init();
    ProcessGroup group = world.split(rank / 2, 0, {.name = rank < 2 ? "living" : "bereaved"});
    barrier_before_death(world, 3);
    Random random(static_cast<std::uint64_t>(rank / 2));
    for (int i = 0; i < 20; ++i) run_mixed_call(group, random);
    if (rank >= 2) barrier_before_death(group, 1);
    if (rank == 3) kill(getpid(), SIGKILL);
    if (rank == 2) {
      const auto died = expect_throws<PeerDiedError>([&] {
        for (;;) run_mixed_call(group, random);
      });
      expect_equal(died.details().culprit, 3, "culprit");
      expect_contains(died.what(), "group \"bereaved\" {2, 3} failed: rank 3 (");
    } else {
      expect_throws<PeerDiedError>([&] { (void)world.recv<int>(3); });  // it is known
      for (int i = 0; i < 200; ++i) run_mixed_call(group, random);
      const auto died = expect_throws<PeerDiedError>([&] {
        for (;;) {
          std::vector<int> value(1);
          world.all_reduce(value);
        }
      });
      expect_equal(died.details().culprit, 3, "culprit");
      for (int i = 0; i < 200; ++i) run_mixed_call(group, random);
    }
    ++*content;
  });
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_EQ(*content, 3);
}

}  // namespace
}  // namespace parley::testing
