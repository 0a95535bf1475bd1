// Collectives of ranks on two hosts, each of which has memory that its ranks share: right results of all of
// them, in sizes that stand beside a mark, in a stage, and in many turns; and how they fail.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
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

using namespace std::chrono_literals;

constexpr const char* store = "tcp://10.7.0.1:29511";  // on host-a, where rank 0 is
constexpr const char* on_hosts = "two_level with memory shared on each host";

base::UniqueFd namespace_of(const NamespaceHost& host) {
  return base::UniqueFd(
      open(("/proc/" + std::to_string(host.pid()) + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
}

// Which ranks are on host-b; and one that dies.
struct Places {
  std::string name;
  int ranks;
  std::vector<int> on_b;
  int mortal;
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
                         ::testing::Values(Places{"TwoAndTwo", 4, {2, 3}, 2}, Places{"InTurn", 5, {1, 3}, 4},
                                           Places{"OneAlone", 3, {2}, 2}),
                         [](const auto& places) { return places.param.name; });

TEST_P(TwoLevel, GiveTheRightElementsInAllSizes) {
  const auto check = [](ProcessGroup& world) {
    expect_contains(world.describe_plan("all_reduce", 8), on_hosts);
    // 14 floats stand beside a mark.
    const std::vector<std::size_t> counts = sanitizer::is_on
                                                ? std::vector<std::size_t>{1, 15, 20'003}
                                                : std::vector<std::size_t>{0, 1, 14, 15, 1000, 300'007};
    for (const std::size_t count : counts) {
      const int step = count > 1000 ? 3 : 1;
      for (int root = 0; root < world.size(); root += step)
        for (const bool in_place : {false, true})
          for (const bool async_op : {false, true})
            expect_every_collective(
                world, {.count = count, .root = root, .in_place = in_place, .async_op = async_op});
    }
    expect_uneven_collectives(world, {.count = 30'000, .root = 1});
  };
  EXPECT_EQ(run(check), 0);
}

// By each algorithm of two levels, though another one would be chosen; from ordinary memory, and from memory
// that is read where it lies, once all of the host have mapped it.
TEST_P(TwoLevel, GiveTheRightElementsByAllAlgorithms) {
  const auto check = [](ProcessGroup& world) {
    for (const std::string algorithm : {"two_level", "two_level_sliced"}) {
      ProcessGroup group =
          world.split(0, world.rank(),
                      {.algorithms = "broadcast=two_level,reduce=two_level,all_gather=two_level,"
                                     "barrier=two_level,all_reduce=" +
                                     algorithm});
      for (int i = 0; i < 6; ++i) group.barrier();
      for (const char* operation : {"broadcast", "reduce", "all_gather", "barrier"})
        expect_contains(group.describe_plan(operation, 1 << 20), on_hosts);
      expect_contains(group.describe_plan("all_reduce", 1 << 20), algorithm + " with memory");
      const std::vector<std::size_t> counts = sanitizer::is_on
                                                  ? std::vector<std::size_t>{1, 20'000}
                                                  : std::vector<std::size_t>{1, 15, 20'000, 300'007};
      for (const std::size_t count : counts)
        for (const bool in_place : {false, true})
          for (const bool is_shared : {false, true})
            for (int round = 0; round < (is_shared ? 3 : 1); ++round)
              expect_every_collective(
                  group, {.count = count, .root = 1, .in_place = in_place, .is_shared = is_shared});
    }
  };
  EXPECT_EQ(run(check), 0);
}

// The ranks have met, and those of each host have mapped what the others lend.
Tensor lent_by_all(ProcessGroup& group) {
  const Tensor data = group.shared_tensor({20'000}, DType::i32);
  std::memset(data.mutable_data(), group.rank(), data.bytes());
  for (int i = 0; i < 20; ++i) group.all_reduce(data);
  return data;
}

// A member of host-a lends, gives up, and writes over it; the others come later. None takes what its leader
// has made of that for the result.
TEST_P(TwoLevel, WhatIsNotLentAnyMoreGoesNoFurther) {
  if (GetParam().name == "InTurn") return;  // as the others
  const auto check = [](ProcessGroup& world) {
    for (int round = 0; round < (sanitizer::is_on ? 3 : 15); ++round) {
      ProcessGroup group = world.split(0, world.rank(), {.algorithms = "all_reduce=two_level"});
      const Tensor data = lent_by_all(group);
      world.barrier();
      if (world.rank() == 1) {
        expect_throws<TimeoutError>([&] { group.all_reduce(data, {.timeout = 50ms}); });
        std::memset(data.mutable_data(), 99, data.bytes());
      } else {
        std::this_thread::sleep_for(80ms);
        const auto error = expect_throws<Error>([&] { group.all_reduce(data); });
        expect_contains(error.what(), "rank 1");
      }
      world.barrier();
    }
  };
  EXPECT_EQ(run(check), 0);
}

// Who waits for its leader's mark, which waits for the other host, takes a long message meanwhile.
TEST_P(TwoLevel, ServeOtherMessagesMeanwhile) {
  const auto check = [](ProcessGroup& world) {
    const int late = world.size() - 1, member = GetParam().name == "InTurn" ? 2 : 1;
    std::vector<float> sum(100, 1.0F);
    std::vector<std::byte> message(32 << 20);
    if (world.rank() == late) {
      std::this_thread::sleep_for(100ms);
      world.send(message, member);
      world.all_reduce(sum);
    } else if (world.rank() == member) {
      Work received = world.irecv(message, late);
      world.all_reduce(sum);
      received.wait();
    } else {
      world.all_reduce(sum);
    }
    expect_equal(sum[0], static_cast<float>(world.size()), "sum");
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
  for (const auto after : {0us, 300us, 2000us, 20'000us}) {
    SharedPage<std::atomic<int>> told;
    const auto check = [&](ProcessGroup& world) {
      std::signal(SIGTERM, SIG_IGN);  // spawn() asks the others to end as soon as one has died
      const int mortal = GetParam().mortal;
      barrier_before_death(world, mortal);
      if (world.rank() == mortal)
        std::thread([&] {
          std::this_thread::sleep_for(after);
          kill(getpid(), SIGKILL);
        }).detach();
      Random random(3);
      const auto died = expect_throws<PeerDiedError>([&] {
        for (;;) run_mixed_call(world, random);
      });
      expect_equal(died.details().culprit, mortal, std::string("culprit of: ") + died.what());
      ++*told;
    };
    EXPECT_EQ(run(check), killed_exit_code);
    EXPECT_EQ(*told, GetParam().ranks - 1);
  }
}

TEST_P(TwoLevel, WhoCallsSomethingElseIsToldOn) {
  const auto check = [](ProcessGroup& world) {
    await_return_of_all(world);
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
