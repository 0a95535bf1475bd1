// Collectives of ranks on two hosts, each of which has memory that its ranks share: right results of all of
// them, in sizes that stand beside a mark, in a stage, and in many turns; and how they fail.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/multiprocess/collectives/mix.h"
#include "tests/multiprocess/hosts/two_hosts.h"
#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "tests/sanitizer.h"
#include "tests/unit/api/collectives/every_collective.h"
#include "transport/base/unique_fd.h"

namespace parley::testing {
namespace {

constexpr const char* store = "tcp://10.7.0.1:29511";  // on host-a, where rank 0 is
constexpr const char* on_hosts = "two_level with memory shared on each host";

base::UniqueFd namespace_of(const NamespaceHost& host) {
  return base::UniqueFd(
      open(("/proc/" + std::to_string(host.pid()) + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
}

// Which ranks are on host-b.
struct Places {
  std::string name;
  int ranks;
  std::vector<int> on_b;
};

class TwoLevel : public ::testing::TestWithParam<Places> {
 protected:
  TwoLevel() { hosts_.join("eth0", {"10.7.0.1/24"}, "eth0", {"10.7.0.2/24"}); }

  // Runs `rank_main` on all ranks, each on its host, once the ranks of each have met.
  template <typename RankMain>
  int run(const RankMain& rank_main) {
    const auto on_its_host = [&](int rank, int ranks) {
      const bool is_on_b = std::count(GetParam().on_b.begin(), GetParam().on_b.end(), rank) != 0;
      const base::UniqueFd network = namespace_of(is_on_b ? hosts_.b : hosts_.a);
      expect(network && setns(network.get(), CLONE_NEWNET) == 0, "a rank enters its host's network");
      forget_environment();
      ProcessGroup world = join(store, rank, ranks);
      for (int i = 0; i < 6; ++i) world.barrier();
      rank_main(world);
      expect(!::testing::Test::HasFailure(), "every result is right");
      destroy();
    };
    return run_ranks(GetParam().ranks, on_its_host);
  }

  TwoHosts hosts_;
};
INSTANTIATE_TEST_SUITE_P(OfRanksThatAre, TwoLevel,
                         ::testing::Values(Places{"TwoAndTwo", 4, {2, 3}}, Places{"InTurn", 5, {1, 3}},
                                           Places{"OneAlone", 3, {2}}),
                         [](const auto& places) { return places.param.name; });

TEST_P(TwoLevel, GiveTheRightElementsInAllSizes) {
  const auto check = [](ProcessGroup& world) {
    expect_contains(world.describe_plan("all_reduce", 8), on_hosts);
    // 14 floats stand beside a mark.
    const std::vector<std::size_t> counts = sanitizer::is_on
                                                ? std::vector<std::size_t>{1, 15, 100'003}
                                                : std::vector<std::size_t>{0, 1, 14, 15, 1000, 300'007};
    for (const std::size_t count : counts)
      for (int root = 0; root<world.size(); root += count> 1000 ? 3 : 1)
        for (const bool in_place : {false, true})
          for (const bool async_op : {false, true})
            expect_every_collective(
                world, {.count = count, .root = root, .in_place = in_place, .async_op = async_op});
    expect_uneven_collectives(world, {.count = 30'000, .root = 1});
  };
  EXPECT_EQ(run(check), 0);
}

// By each algorithm of two levels, though another one would be chosen.
TEST_P(TwoLevel, GiveTheRightElementsByBothAlgorithms) {
  const auto check = [](ProcessGroup& world) {
    for (const char* algorithm : {"two_level", "two_level_sliced"}) {
      ProcessGroup group =
          world.split(0, world.rank(), {.algorithms = std::string("all_reduce=") + algorithm});
      for (int i = 0; i < 6; ++i) group.barrier();
      expect_contains(group.describe_plan("all_reduce", 1 << 20), std::string(algorithm) + " with memory");
      for (const std::size_t count : {1, 15, 1000, 300'007})
        for (const bool in_place : {false, true})
          expect_every_collective(group, {.count = count, .in_place = in_place});
    }
  };
  EXPECT_EQ(run(check), 0);
}

// Read where they lie, once all of the host have mapped them.
TEST_P(TwoLevel, ReadWhatIsSharedWhereItLies) {
  const auto check = [](ProcessGroup& world) {
    for (int round = 0; round < 3; ++round)
      for (const std::size_t count : {5'000, 300'007})
        for (const bool in_place : {false, true})
          expect_every_collective(world, {.count = count, .in_place = in_place, .is_shared = true});
  };
  EXPECT_EQ(run(check), 0);
}

TEST_P(TwoLevel, GiveTheRightElementsInAnyOrder) {
  const auto check = [](ProcessGroup& world) {
    Random random(7);
    for (int i = 0; i < (sanitizer::is_on ? 50 : 400); ++i) run_mixed_call(world, random);
  };
  EXPECT_EQ(run(check), 0);
}

TEST_P(TwoLevel, ADeathIsTheEndOnBothHosts) {
  SharedPage<std::atomic<int>> told;
  const auto check = [&](ProcessGroup& world) {
    std::signal(SIGTERM, SIG_IGN);  // spawn() asks the others to end as soon as one has died
    const int mortal = world.size() - 1;
    barrier_before_death(world, mortal);
    if (world.rank() == mortal) raise(SIGKILL);
    Random random(3);
    const auto died = expect_throws<PeerDiedError>([&] {
      for (;;) run_mixed_call(world, random);
    });
    expect_equal(died.details().culprit, mortal, std::string("culprit of: ") + died.what());
    ++*told;
  };
  EXPECT_EQ(run(check), 128 + SIGKILL);
  EXPECT_EQ(*told, GetParam().ranks - 1);
}

TEST_P(TwoLevel, WhoCallsSomethingElseIsToldOn) {
  const auto check = [](ProcessGroup& world) {
    // Who is still in a barrier would fail with the group's collectives.
    for (int other = 0; other < world.size(); ++other)
      if (other != world.rank()) world.send(0, other);
    for (int other = 0; other < world.size(); ++other)
      if (other != world.rank()) (void)world.recv<int>(other);
    std::vector<float> data(20, 1.0F);
    const auto error = expect_throws<MismatchError>([&] {
      if (world.rank() == world.size() - 1)
        world.broadcast(data, 0);
      else
        world.all_reduce(data);
    });
    expect_contains(error.what(), "broadcast of");
    expect_contains(error.what(), "all_reduce(sum)");
  };
  EXPECT_EQ(run(check), 0);
}

}  // namespace
}  // namespace parley::testing
