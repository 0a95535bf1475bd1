// The memory of a rank's board, which it keeps while others may read it: after it has left the group, until
// each of them has given back its own. Those boards are counted where they are kept.
//
//   multiprocess_boards --gtest_filter='*Aborted*' --seed 17     one abort again

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include "api/group_state.h"
#include "tests/multiprocess/collectives/boards.h"
#include "tests/multiprocess/support/forked_child.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/seed_option.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

// Boards of groups that this rank has left, which it keeps because others may still read them.
std::size_t boards_kept(const ProcessGroup& world) {
  wireup::World& its = *detail::GroupAccess::state(world)->world;
  return its.engine->inspect([&](const transport::Messenger& messenger) {
    const auto is_read = [&](const auto& left) { return !left->is_unread(messenger); };
    return static_cast<std::size_t>(std::count_if(its.left_memory.begin(), its.left_memory.end(), is_read));
  });
}

TEST(LeftBoards, AreKeptUntilAllHaveLeft) {
  const int code = run_ranks(
      3,
      [](int rank, int) {
        ProcessGroup world = init();
        std::optional<ProcessGroup> group = group_on_boards(world);
        for (int leaving = 0; leaving < 3; ++leaving) {
          if (rank == leaving) group.reset();
          world.barrier();
          const bool keeps = rank <= leaving && leaving < 2;
          expect_equal(boards_kept(world), keeps ? 1u : 0u, "boards of ranks that have left");
          world.barrier();
        }
        destroy();
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

// Aborted in the middle, some ranks have their boards and others have given up theirs, and say so on them:
// nobody keeps one for long.
TEST(LeftBoards, OfMeetingsThatWereAbortedAreNotKept) {
  const std::uint64_t first = only_seed().value_or(1), rounds = only_seed() ? 1 : long_tests() ? 4000 : 150;
  const SharedPage<std::atomic<std::uint64_t>> current;
  const auto run = [&](int rank, int ranks) {
    ProcessGroup world = init();
    for (std::uint64_t seed = first; seed < first + rounds; ++seed) {
      *current = seed;
      Random random(seed);
      const bool aborts = rank == static_cast<int>(random.below(static_cast<std::size_t>(ranks)));
      Random own(seed + static_cast<std::uint64_t>(rank + 1) * 1'000'000);
      {
        ProcessGroup group = world.dup();
        for (int call = 0; call < 4; ++call) group.barrier();
        world.barrier();  // all have returned
        std::vector<int> value(1, rank);
        Work work = group.all_reduce(value, {.async_op = true});
        for (std::size_t look = own.below(12); look > 0; --look) {
          if (own.one_in(2)) std::this_thread::sleep_for(std::chrono::microseconds(own.below(100)));
          group.progress();
        }
        if (aborts) group.abort("enough");
        try {
          work.wait();
          expect_equal(value.front(), ranks * (ranks - 1) / 2, "the sum, where the abort came too late");
        } catch (const AbortedError&) {
        }
      }
      world.barrier();
      expect_equal(boards_kept(world), 0u, "boards kept");
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(3, run, long_over_shm), 0) << "seed " << *current;
}

// Of everything that it has of its parent's.
int exit_code_of_child_that_lets_go(ProcessGroup& world, std::optional<ProcessGroup>& group, Work& work) {
  try {
    work = Work();
    group.reset();
    destroy();
    world = ProcessGroup();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "forked child: %s\n", error.what());
    return 1;
  }
}

// What a forked child lets go of, and what it leaves behind when it ends, is its parent's.
TEST(LeftBoards, AreNotGivenBackByAForkedChildInAMeeting) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        ProcessGroup world = init();
        std::optional<ProcessGroup> group = world.dup();
        for (int call = 0; call < 4; ++call) group->barrier();
        std::vector<int> value(1, rank);
        if (rank == 0) {
          Work work = group->all_reduce(value, {.async_op = true});  // alone, until the child has ended
          const pid_t child = fork();
          if (child == 0) _exit(exit_code_of_child_that_lets_go(world, group, work));
          expect_child_passes(child);
          world.barrier();
          work.wait();
        } else {
          world.barrier();
          group->all_reduce(value);
        }
        expect_equal(value.front(), 1, "the sum");
        expect_contains(group->describe_plan("all_reduce", 8), ": flat");
        if (rank == 1) group.reset();
        world.barrier();
        if (rank == 1) expect_equal(boards_kept(world), 1u, "boards, one of which the parent has");
        world.barrier();
        group.reset();
        destroy();
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
