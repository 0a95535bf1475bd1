// Splits of a communicator that are late or fail: the groups are there all the same, and make communicators
// of their own.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "api/device_path.h"
#include "api/nccl/split.h"
#include "tests/unit/nccl/split_world.h"

namespace parley::nccl::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class NcclSplitFailure : public SplitWorld {
 protected:
  const ::testing::Matcher<std::string> what_is_waited_for =
      AnyOf(HasSubstr("it waited for NCCL, which is still splitting the communicator"),
            HasSubstr("it waited for rank"));

  // `meanwhile` runs while nobody's split ends.
  std::jthread during_the_split(std::uint64_t ranks, std::function<void()> meanwhile) {
    fabric_->holds_splits = true;
    return std::jthread([this, ranks, meanwhile = std::move(meanwhile)] {
      wait_for(Call::split, ranks);
      meanwhile();
      fabric_->holds_splits = false;
    });
  }
  // The parent's NCCL has ended, with these words; the child's is its own, and what is of the host goes on.
  static void expect_a_child_of_its_own(ProcessGroup& parent, ProcessGroup& child,
                                        const ::testing::Matcher<std::string>& words) {
    const Device own = device_of(parent);
    try {
      parent.all_reduce(filled(1, 1.0F, own));
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(std::string(error.what()), words);
    }
    use(child, own);
    EXPECT_THAT(child.describe(), Not(HasSubstr(split_off)));
    const int next = (parent.rank() + 1) % parent.size();
    const int previous = (parent.rank() + parent.size() - 1) % parent.size();
    EXPECT_EQ(parent.sendrecv(parent.rank(), next, previous), previous);
  }
};

TEST_F(NcclSplitFailure, ItWaitsForWhoIsSlow) {
  const std::jthread later = during_the_split(3, [] {});
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    use(world, device_of(world));
    ProcessGroup twin = world.dup();
    use(twin, device_of(world));
    EXPECT_THAT(twin.describe(), HasSubstr(split_off));
  });
  EXPECT_EQ(nccl_.count(Call::abort), 0U);
}

// What the device works at comes first: NCCL might wait for it in the call.
TEST_F(NcclSplitFailure, ItWaitsForTheDevice) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 3);
    world.all_reduce(tensor);
    wait_for_all(world);
    if (world.rank() == 0) device_.hold(cuda::default_stream, 0);
    wait_for_all(world);
    world.all_reduce(tensor);
    const detail::GroupState& group = *detail::GroupAccess::state(world);
    Split split(*group.device_path->link, {}, nullptr);
    const auto begin = [&] {
      return group.world->engine->locked(
          [&](transport::Messenger&) { return split.begin(nullptr, nullptr); });
    };
    for (int look = 0; look < 10; ++look) EXPECT_EQ(begin().code(), base::Code::again);
    wait_for_all(world);
    EXPECT_EQ(nccl_.count(Call::split), 0U);
    wait_for_all(world);
    if (world.rank() == 0) device_.let_go(cuda::default_stream, 0);
    wait_until([&] { return begin().code() != base::Code::again; });
    use(world, device_of(world));
  });
  EXPECT_EQ(nccl_.count(Call::split), 2U);
  EXPECT_EQ(nccl_.count(Call::abort), 0U);
}

// A rank that is too slow for the timeout has not come to the split.
TEST_F(NcclSplitFailure, ThatDoesNotEndInTime) {
  fabric_->holds_splits = true;
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    use(world, device_of(world));
    ProcessGroup twin = twin_of(world);
    split_for(world, twin, split_call(world, 300ms));
    expect_a_child_of_its_own(world, twin, what_is_waited_for);
  });
  // Of each a parent, and its child that was never born.
  EXPECT_EQ(nccl_.count(Call::abort), 3U + nccl_.count(Call::split));
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 2U);
}

// In NCCL's call, which waits for the device: no rank's calls wait with it.
TEST_F(NcclSplitFailure, ACallThatDoesNotReturn) {
  fabric_->blocks_splits = true;
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    use(world, device_of(world));
    ProcessGroup twin = twin_of(world);
    split_for(world, twin, split_call(world, 200ms));
    expect_a_child_of_its_own(world, twin, what_is_waited_for);
    fabric_->blocks_splits = false;
  });
  EXPECT_EQ(nccl_.count(Call::abort), 2U + nccl_.count(Call::split));
}

TEST_F(NcclSplitFailure, AtOnceOnOneRank) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    use(world, device_of(world));
    world.barrier();
    if (world.rank() == 1) nccl_.fail_next(Call::split, Result::system_error);
    ProcessGroup part = world.split(0);
    expect_a_child_of_its_own(world, part, HasSubstr("NCCL: simulated (NCCL error 2)"));
  });
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 2U);
}

TEST_F(NcclSplitFailure, OnItsWay) {
  std::atomic<bool> is_over{false};
  const std::jthread later = during_the_split(2, [&] {
    nccl_.fail_asynchronously(Result::remote_error);
    wait_for(Call::abort, 4);
    nccl_.fail_asynchronously(Result::success);
    is_over = true;
  });
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    use(world, device_of(world));
    ProcessGroup twin = world.dup();
    wait_until([&] { return is_over.load(); });
    expect_a_child_of_its_own(world, twin, HasSubstr("NCCL: simulated (NCCL error 6)"));
  });
}

TEST_F(NcclSplitFailure, AnAbortOfTheParent) {
  ProcessGroup of_rank_0;
  std::jthread later = during_the_split(3, [&] {
    of_rank_0.abort("enough");
    wait_for(Call::abort, 5);
  });
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    use(world, device_of(world));
    if (world.rank() == 0) of_rank_0 = world;
    // Rank 2 takes part, and has no child.
    ProcessGroup pair = world.split(world.rank() < 2 ? 0 : -1);
    if (world.rank() < 2) {
      use(pair, device_of(world));
      EXPECT_THAT(pair.describe(), Not(HasSubstr(split_off)));
    }
    EXPECT_THROW(world.all_reduce(ones(world, 1)), AbortedError);
    if (world.rank() == 0) {
      later.join();
      of_rank_0 = {};
    }
  });
  EXPECT_EQ(nccl_.count(Call::abort), 5U);
}

TEST_F(NcclSplitFailure, AnAbortOfTheChildLeavesTheParent) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    use(world, device_of(world));
    ProcessGroup twin = world.dup();
    use(twin, device_of(world));
    world.barrier();
    if (world.rank() == 0) twin.abort("enough");
    EXPECT_THROW(for (;;) twin.all_reduce(ones(world, 1)), AbortedError);
    use(world, device_of(world));
  });
  EXPECT_EQ(nccl_.count(Call::abort), 2U);
}

// The others' group is split off: who cannot make its own takes part all the same.
TEST_F(NcclSplitFailure, OfAGroupWhoseMembersDisagree) {
  parley::testing::run_world(4, [&](ProcessGroup& world) {
    use(world, device_of(world));
    const std::string name = world.rank() == 1 ? "odd" : "even";
    if (world.rank() < 2) {
      EXPECT_THROW((void)world.split(0, 0, {.name = name}), MismatchError);
    } else {
      ProcessGroup pair = world.split(1, 0, {.name = name});
      use(pair, device_of(world));
      EXPECT_THAT(pair.describe(), HasSubstr(split_off));
    }
    use(world, device_of(world));
  });
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 1U);
}

// Two calls of one group in another order on each rank are told apart, and no rank waits for ever.
TEST_F(NcclSplitFailure, OutOfOrderWithACollective) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 1);
    world.all_reduce(tensor);
    Work early;
    if (world.rank() == 0) early = world.all_reduce(tensor, {.async_op = true});
    ProcessGroup twin = world.dup();
    if (world.rank() == 1) early = world.all_reduce(tensor, {.async_op = true});
    try {
      early.wait();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), AnyOf(HasSubstr("the split of the group's NCCL communicator"),
                                      HasSubstr("all_reduce(sum) of ")));
    }
    use(twin, device_of(world));
  });
}

}  // namespace
}  // namespace parley::nccl::testing
