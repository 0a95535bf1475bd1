// kill -9 of one rank at a random moment: every survivor names it, and none hangs.

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

#include "tests/multiprocess/failure/traffic.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

constexpr int ranks = 4;
// A survivor that needs longer is taken to hang; multiplied by slowness(). Whoever has not even reported when
// spawn() kills the rest, 5 s after the death in every build, hangs for sure.
constexpr std::chrono::seconds hang_bound{5};
constexpr std::chrono::milliseconds promised_p99{250};

// What a survivor ended with. Written by it, read by the test.
struct Survivor {
  std::atomic<bool> reported{false};
  std::atomic<bool> peer_died{false};
  std::atomic<int> culprit{-1};
  std::atomic<std::int64_t> error_ns{0};
  std::array<char, 256> text{};
};
struct Outcome {
  std::atomic<std::int64_t> kill_ns{0};
  std::array<Survivor, ranks> survivors;
};

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

struct Death {
  Traffic traffic;
  int victim;
  std::chrono::microseconds after;
  std::uint64_t seed;
};

// A thread kills the process, wherever its main thread is.
void die_later(std::chrono::microseconds after, Outcome& outcome) {
  std::thread([after, &outcome] {
    std::this_thread::sleep_for(after);
    outcome.kill_ns = now_ns();
    kill(getpid(), SIGKILL);
  }).detach();
}

void note(Survivor& survivor, const Error& error, bool peer_died) {
  survivor.error_ns = now_ns();
  survivor.culprit = error.details().culprit;
  survivor.peer_died = peer_died;
  std::snprintf(survivor.text.data(), survivor.text.size(), "%s", error.what());
  survivor.reported = true;
}

void run_rank(int rank, const Death& death, Outcome& outcome) {
  // spawn() asks the survivors to end as soon as the victim is gone; what they do by themselves is the test.
  std::signal(SIGTERM, SIG_IGN);
  ProcessGroup world = init();
  barrier_before_death(world, death.victim);  // whoever is through knows that all are linked
  if (rank == death.victim) die_later(death.after, outcome);
  Survivor& self = outcome.survivors[static_cast<std::size_t>(rank)];
  try {
    run_traffic(world, death.traffic, death.seed);
  } catch (const PeerDiedError& error) {
    note(self, error, true);
    // Half of them leave by an exception, half in a tidy way; neither may be taken for the culprit.
    if (rank % 2 == 0) throw;
  } catch (const Error& error) {
    note(self, error, false);
  }
}

// Returns the survivors' times from kill to error, in ns.
std::vector<std::int64_t> kill_one(const Death& death) {
  const SharedPage<Outcome> outcome;
  const int code = run_ranks(ranks, [&](int rank, int) { run_rank(rank, death, *outcome); });
  const std::string what = std::string(name_of(death.traffic)) + ", victim " + std::to_string(death.victim) +
                           ", after " + std::to_string(death.after.count()) + " us, seed " +
                           std::to_string(death.seed);
  EXPECT_EQ(code, killed_exit_code) << what;
  std::vector<std::int64_t> times;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == death.victim) continue;
    const Survivor& survivor = outcome->survivors[static_cast<std::size_t>(rank)];
    if (!survivor.reported) {
      ADD_FAILURE() << "rank " << rank << " hangs; " << what;
      continue;
    }
    EXPECT_TRUE(survivor.peer_died) << what << "; rank " << rank << " got: " << survivor.text.data();
    EXPECT_EQ(survivor.culprit, death.victim)
        << what << "; rank " << rank << " got: " << survivor.text.data();
    times.push_back(survivor.error_ns - outcome->kill_ns);
    EXPECT_LT(std::chrono::nanoseconds(times.back()), hang_bound * slowness()) << what << "; rank " << rank;
  }
  return times;
}

void kill_many(Traffic traffic, std::uint64_t first_seed) {
  const std::uint64_t kills = long_tests() ? 200 : 4;
  std::vector<std::int64_t> times;
  for (std::uint64_t i = 0; i < kills && !::testing::Test::HasFailure(); ++i) {
    Random random(first_seed + i);
    const int victim = static_cast<int>(random.below(ranks));
    const auto after = std::chrono::microseconds(random.below(30'000));
    const auto some = kill_one({traffic, victim, after, first_seed + i});
    times.insert(times.end(), some.begin(), some.end());
  }
  ASSERT_FALSE(times.empty());
  std::sort(times.begin(), times.end());
  const std::chrono::nanoseconds p99(times[(times.size() - 1) * 99 / 100]);
  const auto in_ms = [](auto time) { return std::chrono::duration<double, std::milli>(time).count(); };
  std::printf("%s: %zu survivors of %d kills, from kill to error: median %.2f ms, p99 %.2f ms\n",
              name_of(traffic), times.size(), static_cast<int>(kills),
              in_ms(std::chrono::nanoseconds(times[times.size() / 2])), in_ms(p99));
  if (long_tests()) {
    EXPECT_LT(p99, promised_p99 * slowness());
  }
}

TEST(Kill, InARingEverySurvivorNamesTheVictim) {
  kill_many(Traffic::ring, 1000);
}
TEST(Kill, WithRandomPartnersEverySurvivorNamesTheVictim) {
  kill_many(Traffic::permutation, 2000);
}
TEST(Kill, InAllToAllEverySurvivorNamesTheVictim) {
  kill_many(Traffic::all_to_all, 3000);
}
TEST(Kill, InABarrierEverySurvivorNamesTheVictim) {
  kill_many(Traffic::barriers, 4000);
}
TEST(Kill, AReceiveFromAnySourceNamesTheVictim) {
  kill_many(Traffic::any_source, 5000);
}

}  // namespace
}  // namespace parley::testing
