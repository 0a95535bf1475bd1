// Communicators that were split off for groups that have not used them yet, and perhaps never will.
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "api/nccl/link.h"
#include "tests/unit/nccl/split_world.h"

namespace parley::nccl::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class NcclReserve : public SplitWorld {
 protected:
  // All of them stay on their way to each other until their fabric lets go.
  ProcessGroup twin_that_joins(ProcessGroup& world) {
    use(world, device_of(world));
    world.barrier();
    fabric_->holds_joins = true;
    ProcessGroup twin = world.dup();
    wait_for_all(world);
    return twin;
  }
  static Link& link_of(ProcessGroup& group) { return *detail::GroupAccess::state(group)->split_off; }
  static void with_engine(ProcessGroup& group, const std::function<void()>& function) {
    detail::GroupAccess::state(group)->world->engine->locked([&](transport::Messenger&) { function(); });
  }
  static void use_on_host(ProcessGroup& group) {
    std::vector<int> values(3, 1);
    group.all_reduce(values);
    EXPECT_EQ(values[2], group.size());
  }
  static void expect_the_end(ProcessGroup& group, const std::string& words) {
    try {
      for (;;) group.barrier();
    } catch (const AbortedError& error) {
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
  }
};

// Nobody waits for the others to be done with what nobody has used.
TEST_F(NcclReserve, GoesAtOnce) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    use(world, device_of(world));
    ProcessGroup twin = world.dup();
    wait_for_all(world);
    if (world.rank() == 0) twin = {};
    world.barrier();
    use(world, device_of(world));
  });
  EXPECT_EQ(nccl_.count(Call::abort), 2U);   // of the twin
  EXPECT_EQ(nccl_.count(Call::finish), 2U);  // of the world
}

TEST_F(NcclReserve, ThatFailsOnOneRankLeavesTheGroup) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    ProcessGroup twin = twin_that_joins(world);
    if (world.rank() == 0) {
      nccl_.fail_newest(Result::remote_error);
      wait_for(Call::abort, 1);
      fabric_->holds_joins = false;
    }
    wait_for_all(world);
    use_on_host(twin);
    use(twin, device_of(world));
    EXPECT_THAT(twin.describe(), Not(HasSubstr(split_off)));
    use_on_host(twin);
    use(world, device_of(world));
  });
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 2U);
  EXPECT_EQ(nccl_.count(Call::abort), 3U);
}

TEST_F(NcclReserve, ThatFailsInItsFirstCallEndsTheGroup) {
  ProcessGroup of_rank_0;
  std::jthread later;
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    ProcessGroup twin = twin_that_joins(world);
    if (world.rank() == 0) {
      of_rank_0 = twin;
      later = std::jthread([&] {
        wait_until([&] { return of_rank_0.describe().find(split_off) != std::string::npos; });
        nccl_.fail_newest(Result::remote_error);
      });
    }
    try {
      twin.all_reduce(ones(world, 1));
      ADD_FAILURE() << "no error";
    } catch (const AbortedError& error) {
      EXPECT_THAT(error.what(), HasSubstr("NCCL: simulated (NCCL error 6)"));
    }
    expect_the_end(twin, "NCCL: simulated (NCCL error 6)");
    if (world.rank() == 0) {
      later.join();
      of_rank_0 = {};
    }
    use(world, device_of(world));
  });
}

// Between what a rank tells the others of it and its use.
TEST_F(NcclReserve, ThatHasFailedEndsTheGroupThatBeginsToUseIt) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    use(world, device_of(world));
    ProcessGroup twin = world.dup();
    if (world.rank() == 0) with_engine(twin, [&] { link_of(twin).fail("lost"); });
    wait_for_all(world);
    use_on_host(twin);
    wait_for_all(world);
    if (world.rank() == 0) with_engine(twin, [&] { link_of(twin).begin_use(); });
    expect_the_end(twin, "lost");
    use_on_host(world);
  });
}

}  // namespace
}  // namespace parley::nccl::testing
