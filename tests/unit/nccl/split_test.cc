// Groups that all ranks of another one make: NCCL splits that one's communicator.
#include <gmock/gmock.h>
#include <parley/batch.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/unit/nccl/simulated_world.h"

namespace parley::nccl::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* split_off = "; split off from its parent's)";

class NcclSplit : public SimulatedWorld {
 protected:
  ~NcclSplit() override { EXPECT_EQ(fabric_->mismatches, 0U); }

  // Each rank brings a one.
  static void expect_sum(ProcessGroup& group, Device device) {
    const Tensor tensor = filled(100, 1.0F, device);
    group.all_reduce(tensor);
    EXPECT_EQ(last_of<float>(tensor), static_cast<float>(group.size()));
  }
  // Made by an id at its first call, as all were that follow.
  static void expect_own_id(ProcessGroup& group, Device device) {
    expect_sum(group, device);
    EXPECT_THAT(group.describe(), AllOf(HasSubstr("devices: NCCL"), Not(HasSubstr(split_off))));
  }
  static void expect_split_off(ProcessGroup& group, Device device) {
    expect_sum(group, device);
    EXPECT_THAT(group.describe(), AllOf(HasSubstr("devices: NCCL"), HasSubstr(split_off)));
  }
};

TEST_F(NcclSplit, TwoHalvesNeedNoIdOfTheirOwn) {
  parley::testing::run_world(4, [&](ProcessGroup& world) {
    const Device own = device_of(world);
    expect_sum(world, own);
    ProcessGroup half = world.split(world.rank() % 2, 0, {.name = "half"});
    expect_split_off(half, own);
    expect_sum(world, own);
    EXPECT_THAT(world.describe(), Not(HasSubstr(split_off)));
  });
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 1U);
  EXPECT_EQ(nccl_.count(Call::join), 4U);
  EXPECT_EQ(nccl_.count(Call::split), 4U);
  EXPECT_EQ(nccl_.count(Call::destroy), 8U);
  EXPECT_EQ(nccl_.count(Call::abort), 0U);
}

// NCCL's ranks are the group's, whose order may be another than the parent's.
TEST_F(NcclSplit, KeepsTheOrderOfKeys) {
  parley::testing::run_world(5, [&](ProcessGroup& world) {
    const Device own = device_of(world);
    expect_sum(world, own);
    ProcessGroup turned = world.split(0, world.rank() == 3 ? 7 : -world.rank());
    EXPECT_EQ(turned.global_rank(4), 3);
    const Tensor all = filled(5, 0.0F, own);
    turned.all_gather_into_tensor(all, filled(1, static_cast<float>(world.rank()), own));
    EXPECT_EQ(all.to(Device{}).data_as<float>()[0], 4.0F);
    EXPECT_EQ(last_of<float>(all), 3.0F);
    EXPECT_THAT(turned.describe(), HasSubstr(split_off));
  });
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 1U);
}

TEST_F(NcclSplit, DupAndSplitByHostAreSplitsToo) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    const Device own = device_of(world);
    expect_sum(world, own);
    ProcessGroup twin = world.dup();
    ProcessGroup host = world.split_by_host();
    expect_split_off(host, own);
    expect_split_off(twin, own);
    ProcessGroup of_twin = twin.dup();
    expect_split_off(of_twin, own);
  });
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 1U);
  EXPECT_EQ(nccl_.count(Call::split), 9U);
}

TEST_F(NcclSplit, IsForBatchesToo) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    expect_sum(world, device_of(world));
    ProcessGroup twin = world.dup();
    const Tensor out = ones(world, 7), in = filled(7, 0.0F, device_of(world));
    const int other = 1 - world.rank();
    auto works = twin.batch_isend_irecv({P2POp{P2POp::isend, out, other}, P2POp{P2POp::irecv, in, other}});
    wait_all(works);
    EXPECT_EQ(last_of<float>(in), 1.0F);
  });
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 1U);
}

// Who has no group, and a rank by itself, take part without a color.
TEST_F(NcclSplit, LeavesOutWhoHasNoChild) {
  parley::testing::run_world(4, [&](ProcessGroup& world) {
    const Device own = device_of(world);
    expect_sum(world, own);
    ProcessGroup pair = world.split(world.rank() < 2 ? 0 : world.rank() - 3);  // {0, 1, 3} and nobody for 2
    if (world.rank() == 2) {
      EXPECT_FALSE(pair.is_member());
    } else {
      expect_split_off(pair, own);
    }
    ProcessGroup other = world.split(world.rank() == 0 ? 1 : 0);  // {0} and {1, 2, 3}
    expect_sum(other, own);
    EXPECT_THAT(other.describe(),
                HasSubstr(world.rank() == 0 ? "without NCCL (there is one rank)" : split_off));
  });
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 1U);
  EXPECT_EQ(nccl_.count(Call::destroy), 4U + 3U + 3U);
}

TEST_F(NcclSplit, IsOfOneRankWhereThatAsksForNccl) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Device own = device_of(world);
    expect_sum(world, own);
    ProcessGroup alone = world.split(world.rank(), 0, {.device_backend = DeviceBackend::nccl});
    expect_split_off(alone, own);
  });
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 1U);
}

// One rank's wish is enough, and only its own group's.
TEST_F(NcclSplit, HeedsAWishAgainstNccl) {
  parley::testing::run_world(4, [&](ProcessGroup& world) {
    const Device own = device_of(world);
    expect_sum(world, own);
    const auto wish = world.rank() == 1 ? DeviceBackend::own : DeviceBackend::automatic;
    ProcessGroup half = world.split(world.rank() / 2, 0, {.device_backend = wish});
    expect_sum(half, own);
    EXPECT_THAT(half.describe(),
                HasSubstr(world.rank() < 2 ? "without NCCL (rank 1 asks for ipc)" : split_off));
  });
  EXPECT_EQ(nccl_.count(Call::split), 4U);
  EXPECT_EQ(nccl_.count(Call::destroy), 4U + 2U);
  EXPECT_EQ(nccl_.count(Call::abort), 0U);
}

TEST_F(NcclSplit, IsNotTriedWhereNobodyWantsIt) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    const Device own = device_of(world);
    expect_sum(world, own);
    (void)world.split(-1);
    ProcessGroup alone = world.split(world.rank());
    ProcessGroup by_copies = world.dup({.device_backend = DeviceBackend::own});
    expect_sum(by_copies, own);
  });
  EXPECT_EQ(nccl_.count(Call::split), 0U);
}

TEST_F(NcclSplit, IsNotOfAParentThatHasNoNcclYet) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Device own = device_of(world);
    ProcessGroup twin = world.dup();
    expect_own_id(twin, own);
    expect_own_id(world, own);
  });
  EXPECT_EQ(nccl_.count(Call::split), 0U);
}

// Its children would end with it.
TEST_F(NcclSplit, IsNotWhereNcclIsToldToShareResources) {
  setenv("NCCL_COMM_SPLIT_SHARE_RESOURCES", "1", 1);
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Device own = device_of(world);
    expect_sum(world, own);
    ProcessGroup twin = world.dup();
    expect_own_id(twin, own);
  });
  unsetenv("NCCL_COMM_SPLIT_SHARE_RESOURCES");
  EXPECT_EQ(nccl_.count(Call::split), 0U);
}

// They are made by their members alone, and pair with a dup() of the same ranks.
TEST_F(NcclSplit, IsNotForListsOfRanks) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    const Device own = device_of(world);
    expect_sum(world, own);
    ProcessGroup all = world.rank() == 0 ? world.new_group({0, 1, 2}) : world.dup();
    expect_own_id(all, own);
    if (world.rank() == 2) return;
    ProcessGroup pair = world.new_group({1, 0});
    expect_own_id(pair, own);
  });
  EXPECT_EQ(nccl_.count(Call::split), 0U);
}

// One list, and two groups that have it.
TEST_F(NcclSplit, IsNotOfDifferentParents) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Device own = device_of(world);
    expect_sum(world, own);
    ProcessGroup twin = world.dup();
    expect_split_off(twin, own);
    ProcessGroup made = world.rank() == 0 ? world.dup() : twin.dup();
    expect_own_id(made, own);
  });
  EXPECT_EQ(nccl_.count(Call::split), 2U);
}

// Collectives that were begun before go first, those after it later, whatever is late.
TEST_F(NcclSplit, HasItsTurnAmongCollectives) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    const Device own = device_of(world);
    expect_sum(world, own);
    for (int round = 0; round < 5; ++round) {
      std::vector<Tensor> tensors;
      std::vector<Work> works;
      const auto begin = [&] {
        for (int i = 0; i < 10; ++i) {
          if (i % 3 == world.rank()) nccl_.launch_in_background(20);
          tensors.push_back(filled(10 + i, 1.0F, own));
          works.push_back(world.all_reduce(tensors.back(), {.async_op = true}));
        }
      };
      begin();
      ProcessGroup twin = world.dup();
      begin();
      wait_all(works);
      expect_split_off(twin, own);
      for (const Tensor& tensor : tensors) EXPECT_EQ(last_of<float>(tensor), 3.0F);
    }
  });
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 1U);
  EXPECT_EQ(nccl_.count(Call::abort), 0U);
}

TEST_F(NcclSplit, OutlivesItsParent) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    const Device own = device_of(world);
    ProcessGroup parent = world.dup();
    expect_own_id(parent, own);
    ProcessGroup child = parent.dup(), unused = parent.dup();
    expect_split_off(child, own);
    parent = {};
    expect_sum(child, own);
    expect_split_off(unused, own);
    ProcessGroup grandchild = child.split(0);
    child = {};
    expect_split_off(grandchild, own);
  });
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 1U);
  EXPECT_EQ(nccl_.count(Call::abort), 0U);
}

TEST_F(NcclSplit, ForAnotherDeviceIsMadeAnew) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    expect_sum(world, device_of(world));
    ProcessGroup twin = world.dup();
    // Rank 1 alone has changed.
    const Device other{Device::cuda, world.rank() == 1 ? 3 : 0};
    expect_own_id(twin, other);
    EXPECT_THROW(twin.all_reduce(filled(1, 1.0F, {Device::cuda, 4})), Error);
  });
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 2U);
}

}  // namespace
}  // namespace parley::nccl::testing
