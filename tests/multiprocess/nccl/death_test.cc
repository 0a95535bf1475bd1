// kill -9 of one rank while NCCL works on the devices: every survivor names it, its device is free again, and
// the others go on with groups of the host.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/nccl/nccl_rank.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using nccl::testing::Fabric;

constexpr int ranks = 4;
constexpr auto promised_time = 5s;
constexpr int most_splits = 50;  // for which a fabric has room

struct Outcome {
  std::atomic<std::int64_t> kill_ns{0};
  std::array<std::atomic<std::int64_t>, ranks> told_ns{};  // 0: nothing, or the wrong thing
};

std::int64_t now_ns() {
  return Clock::now().time_since_epoch().count();
}

// What the ranks do when one of them dies.
enum class Doing { collectives, splits };
// Of a simulated NCCL: whether it tells of the death before anybody has heard who died.
enum class Nccl { waits, hears_first };

void run_rank(int rank, int victim, Doing doing, Nccl behaves, std::chrono::microseconds after,
              Fabric& fabric, Outcome& outcome) {
  std::signal(SIGTERM, SIG_IGN);  // spawn() asks the others to end as soon as one has died
  NcclRank own(rank, fabric);
  std::int64_t told = 0;
  {
    ProcessGroup world = init();
    std::vector<int> living;
    for (int other = 0; other < ranks; ++other)
      if (other != victim) living.push_back(other);
    ProcessGroup survivors = world.new_group(living);
    const DeviceNumbers numbers(own, 20'000);
    world.all_reduce(numbers.tensor());
    barrier_before_death(world, victim);
    if (behaves == Nccl::hears_first) own.nccl().launch_in_background(2, 1'000'000);  // and is looked at
    std::jthread hears;
    if (rank != victim && behaves == Nccl::hears_first)
      hears = std::jthread([after, &own] {
        std::this_thread::sleep_for(after);
        own.nccl().fail_asynchronously(nccl::Result::remote_error);
        std::this_thread::sleep_for(100ms);
        own.nccl().fail_asynchronously(nccl::Result::success);
      });
    if (rank == victim)
      std::thread([after, behaves, &outcome] {
        std::this_thread::sleep_for(behaves == Nccl::hears_first ? after + 50ms : after);
        outcome.kill_ns = now_ns();
        kill(getpid(), SIGKILL);
      }).detach();
    // Calls return when all ranks have come; the device may be at it still.
    const auto died = expect_throws<PeerDiedError>([&] {
      for (int round = 0;; ++round) {
        if (doing == Doing::splits && round < most_splits) (void)world.dup();
        world.all_reduce(numbers.tensor());
      }
    });
    expect_equal(died.details().culprit, victim, std::string("culprit of: ") + died.what());
    (void)numbers.get();  // waits for the device
    told = now_ns();
    std::vector<std::int64_t> sum(3, rank);
    survivors.all_reduce(sum);
    expect_equal(sum[2], std::int64_t{0 + 1 + 2 + 3 - victim}, "sum of the survivors");
    survivors.barrier();
  }
  own.expect_nothing_left();
  outcome.told_ns[static_cast<std::size_t>(rank)] = told;
}

void kill_one(Doing doing, Nccl behaves = Nccl::waits) {
  if (behaves != Nccl::waits && DeviceRank::is_real()) GTEST_SKIP() << "a real NCCL hears when it hears";
  if (const std::string reason = reason_against_sharing(); !reason.empty()) GTEST_SKIP() << reason;
  // NCCL takes seconds to join its ranks on a real device.
  const std::uint64_t kills = DeviceRank::is_real() ? 2 : long_tests() ? 200 : 8;
  for (std::uint64_t seed = 1; seed <= kills && !::testing::Test::HasFailure(); ++seed) {
    Random random(seed);
    const int victim = static_cast<int>(random.below(ranks));
    const auto after = std::chrono::microseconds(random.below(30'000));
    const SharedPage<Fabric> fabric;
    const SharedPage<Outcome> outcome;
    const int code = run_ranks(
        ranks, [&](int rank, int) { run_rank(rank, victim, doing, behaves, after, *fabric, *outcome); },
        ranks_with_nccl());
    EXPECT_EQ(code, killed_exit_code) << "seed " << seed;
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank == victim) continue;
      const std::int64_t told = outcome->told_ns[static_cast<std::size_t>(rank)];
      ASSERT_NE(told, 0) << "rank " << rank << ", victim " << victim << ", seed " << seed;
      EXPECT_LT(std::chrono::nanoseconds(told - outcome->kill_ns), promised_time * slowness())
          << "rank " << rank << ", seed " << seed;
    }
  }
}

TEST(NcclDeath, EverySurvivorNamesTheVictimAndGoesOn) {
  kill_one(Doing::collectives);
}

TEST(NcclDeath, InTheMiddleOfSplits) {
  kill_one(Doing::splits);
}

TEST(NcclDeath, OfWhichNcclHearsFirst) {
  kill_one(Doing::collectives, Nccl::hears_first);
  kill_one(Doing::splits, Nccl::hears_first);
}

}  // namespace
}  // namespace parley::testing
