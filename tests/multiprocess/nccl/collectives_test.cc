// NCCL between processes that have a device each.

#include <gtest/gtest.h>
#include <parley/batch.h>
#include <parley/parley.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/multiprocess/nccl/nccl_rank.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using nccl::testing::Fabric;

TEST(Nccl, CollectivesAndBatchesBetweenProcesses) {
  if (const std::string reason = reason_against_sharing(); !reason.empty()) GTEST_SKIP() << reason;
  const SharedPage<Fabric> fabric;
  const auto run = [&](int rank, int size) {
    NcclRank own(rank, *fabric);
    {
      constexpr std::size_t count = 5000;
      ProcessGroup world = init();
      const DeviceNumbers in(own, count), out(own, count), all(own, count * static_cast<std::size_t>(size));
      for (int round = 0; round < 5; ++round) {
        in.put(std::vector<std::int64_t>(count, rank + round));
        world.all_reduce(out.tensor(), in.tensor());
        expect(out.get() == std::vector<std::int64_t>(count, 3 * round + 3), "all_reduce");
        world.all_gather_into_tensor(all.tensor(), in.tensor());
        std::vector<std::int64_t> wanted;
        for (int other = 0; other < size; ++other) wanted.insert(wanted.end(), count, other + round);
        expect(all.get() == wanted, "all_gather");
        auto works = world.batch_isend_irecv({P2POp{P2POp::isend, in.tensor(), (rank + 1) % size},
                                              P2POp{P2POp::irecv, out.tensor(), (rank + 2) % size}});
        wait_all(works);
        expect(out.get() == std::vector<std::int64_t>(count, (rank + 2) % size + round), "batch");
      }
      expect_contains(world.describe(), "devices: NCCL 2.");
      expect_contains(world.describe(), " on cuda:0");
      if (!DeviceRank::is_real()) expect(!own.nccl().operations().empty(), "NCCL was called");
      world.barrier();
      destroy();
    }
    own.expect_nothing_left();
    if (!DeviceRank::is_real()) expect_equal(own.nccl().count(nccl::testing::Call::abort), 0U, "aborts");
  };
  EXPECT_EQ(run_ranks(3, run, ranks_with_nccl()), 0);
  EXPECT_EQ(fabric->mismatches, 0U);
}

// The world's communicator is split: no group has an id of its own.
TEST(Nccl, GroupsOfAllRanksAreSplitOffBetweenProcesses) {
  if (const std::string reason = reason_against_sharing(); !reason.empty()) GTEST_SKIP() << reason;
  const SharedPage<Fabric> fabric;
  const auto run = [&](int rank, int size) {
    NcclRank own(rank, *fabric);
    {
      ProcessGroup world = init();
      const DeviceNumbers numbers(own, 3000);
      const auto expect_sum = [&](ProcessGroup& group, std::int64_t sum) {
        numbers.put(std::vector<std::int64_t>(3000, rank));
        group.all_reduce(numbers.tensor());
        expect(numbers.get() == std::vector<std::int64_t>(3000, sum), "all_reduce of " + group.describe());
      };
      expect_sum(world, 6);
      // {3, 1} and {2, 0}, which outlives the twin that it is split off from.
      ProcessGroup half = world.split(rank % 2, -rank), last;
      {
        ProcessGroup twin = world.dup();
        expect_sum(twin, 6);
        last = twin.split(rank % 2 == 0 ? 0 : -1, -rank);
      }
      expect_sum(half, rank % 2 == 0 ? 2 : 4);
      if (last.is_member()) expect_sum(last, 2);
      expect_sum(world, 6);
      for (const ProcessGroup& group : {half, last})
        if (group.is_member()) expect_contains(group.describe(), "; split off from its parent's)");
      world.barrier();
      half = last = {};
      destroy();
    }
    own.expect_nothing_left();
    if (DeviceRank::is_real()) return;
    expect_equal(own.nccl().count(nccl::testing::Call::join), 1U, "joins");
    expect_equal(own.nccl().count(nccl::testing::Call::split), 3U, "splits");
    expect_equal(own.nccl().count(nccl::testing::Call::abort), 0U, "aborts");
    expect(size == 4, "size");
  };
  EXPECT_EQ(run_ranks(4, run, ranks_with_nccl()), 0);
  EXPECT_EQ(fabric->mismatches, 0U);
}

// On one GPU: every kind of call of a group of one, by NCCL, with the elements that it gives by itself.
TEST(Nccl, AGroupOfOneDoesEverythingByNccl) {
  const int code = run_alone_with_nccl([](NcclRank& own, ProcessGroup& world) {
    constexpr std::size_t count = 1000;
    std::vector<std::int64_t> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int64_t>(i * i);
    const DeviceNumbers in(own, count), out(own, count);
    const std::vector<Tensor> ins{in.tensor()}, outs{out.tensor()};
    const auto expect_copy = [&](const char* call, const auto& run) {
      in.put(values);
      out.put(std::vector<std::int64_t>(count, -1));
      run();
      expect(out.get() == values, call);
    };
    expect_copy("all_reduce", [&] { world.all_reduce(out.tensor(), in.tensor()); });
    expect_copy("max", [&] { world.all_reduce(out.tensor(), in.tensor(), {.op = ReduceOp::max}); });
    expect_copy("reduce", [&] { world.reduce(out.tensor(), in.tensor(), 0); });
    expect_copy("all_gather", [&] { world.all_gather_into_tensor(out.tensor(), in.tensor()); });
    expect_copy("reduce_scatter", [&] { world.reduce_scatter_tensor(out.tensor(), in.tensor()); });
    expect_copy("all_to_all", [&] { world.all_to_all_single(out.tensor(), in.tensor()); });
    expect_copy("gather", [&] { world.gather(outs, in.tensor(), 0); });
    expect_copy("scatter", [&] { world.scatter(out.tensor(), ins, 0); });
    expect_copy("a send to itself", [&] {
      auto works = world.batch_isend_irecv(
          {P2POp{P2POp::isend, in.tensor(), 0}, P2POp{P2POp::irecv, out.tensor(), 0}});
      wait_all(works);
    });
    world.broadcast(out.tensor(), 0);
    expect(out.get() == values, "broadcast");
    expect_contains(world.describe(), "devices: NCCL ");
    ProcessGroup twin = world.dup({.name = "twin"});
    expect_copy("all_reduce of a twin", [&] { twin.all_reduce(out.tensor(), in.tensor()); });
    expect_contains(twin.describe(), "; split off from its parent's)");
    expect_copy("all_reduce after a split", [&] { world.all_reduce(out.tensor(), in.tensor()); });
    twin = {};
  });
  EXPECT_EQ(code, 0);
}

TEST(Nccl, TwoRanksOnOneDeviceGoWithoutItAndSayWhy) {
  const SharedPage<Fabric> fabric;
  const int code = run_ranks(2, [&](int rank, int) {
    NcclRank own(0, *fabric);
    ProcessGroup world = init();
    const DeviceNumbers numbers(own, 100);
    numbers.put(std::vector<std::int64_t>(100, rank + 1));
    world.all_reduce(numbers.tensor());
    expect(numbers.get() == std::vector<std::int64_t>(100, 3), "all_reduce");
    const std::string words = world.describe();
    expect_contains(words, "devices: without NCCL (");
    if (!DeviceRank::is_real()) expect_contains(words, "ranks 0 and 1 share a device");
    world.barrier();
    destroy();
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
