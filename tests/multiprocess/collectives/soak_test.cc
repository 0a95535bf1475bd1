// 24 ranks on a few cores: random collectives and messages in the world and in groups that come and go, every
// result checked.
//
//   multiprocess_collectives --gtest_filter='Soak.*' --seed 17     one program again

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tests/multiprocess/collectives/mix.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/seed_option.h"
#include "tests/sanitizer.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int soak_ranks = 24;

// A group of this rank's and what all its members do there next.
void run_in_a_part(ProcessGroup& world, Random& random) {
  const std::size_t parts = 1 + random.below(6);
  const std::uint64_t seed = random.next();
  const int color = static_cast<int>(Random(seed + static_cast<std::uint64_t>(world.rank())).below(parts));
  ProcessGroup group = world.split(color, world.rank() % 5);
  Random own(seed + 1000 + static_cast<std::uint64_t>(color));
  for (int i = 0; i < 10; ++i) run_mixed_call(group, own);
}

// Returns how many rounds it was.
int soak(ProcessGroup& world, std::uint64_t seed, Clock::time_point end) {
  Random random(seed);
  ProcessGroup other = world.dup();
  int rounds = 0;
  for (std::vector<int> goes_on(1, 1); goes_on[0] != 0; ++rounds) {
    if (random.one_in(5))
      run_in_a_part(world, random);
    else
      for (int i = 0; i < 10; ++i) run_mixed_call(random.one_in(2) ? world : other, random);
    goes_on[0] = Clock::now() < end ? 1 : 0;
    world.broadcast(goes_on, 0);  // rank 0 decides
  }
  return rounds;
}

TEST(Soak, EveryResultIsRight) {
  const auto now = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  const std::uint64_t seed = only_seed().value_or(now % 1'000'000);
  const std::chrono::seconds time = long_tests() ? 600s : sanitizer::is_on ? 8s : 15s;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  const auto run = [&](int rank, int) {
    ProcessGroup world = init();
    const int rounds = soak(world, seed, Clock::now() + time);
    if (rank == 0) std::printf("%d rounds of 10 collectives\n", rounds);
  };
  EXPECT_EQ(run_ranks(soak_ranks, run, {.timeout = time + 60s}), 0) << "again with --seed " << seed;
}

}  // namespace
}  // namespace parley::testing

int main(int argc, char** argv) {
  return parley::testing::run_seeded_tests(argc, argv, "multiprocess_collectives");
}
