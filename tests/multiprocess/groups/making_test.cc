// Making groups of processes, and what goes wrong there.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

// Eleven ranks on a few cores; what the group's rank 0 sends reaches the world's rank 10.
TEST(GroupMaking, RankFourOfTheEvenOnesIsTheWorldsRankTen) {
  const int code = run_ranks(11, [](int rank, int) {
    ProcessGroup world = init();
    ProcessGroup evens = world.new_group({2, 4, 6, 8, 10});
    if (rank == 2) evens.send(Tensor::arange(4, DType::i64), 4);
    if (rank == 10) {
      std::vector<std::int64_t> in(4);
      expect_equal(evens.recv(in, any_source).source, 0, "rank in the group");
      expect_equal(evens.global_rank(0), 2, "rank in the world");
      expect(in == std::vector<std::int64_t>{0, 1, 2, 3}, "content");
    }
    world.barrier();
  });
  EXPECT_EQ(code, 0);
}

// Each waits for the other in another call, and has but one thread: neither would ever come.
TEST(GroupMaking, RanksInDifferentCallsAreToldOfBoth) {
  const int code = run_ranks(3, [](int rank, int) {
    ProcessGroup world = init();
    if (rank != 2) {
      const auto begin = now();
      const auto error = expect_throws<MismatchError>([&] {
        (void)(rank == 0 ? world.new_group({0, 1}) : world.new_group({0, 1, 2}, {.name = "all"}));
      });
      expect_contains(error.what(), "in new_group({0, 1})");
      expect_contains(error.what(), "in new_group({0, 1, 2}, \"all\")");
      expect_contains(error.what(), "rank 0 (");
      expect_contains(error.what(), "rank 1 (");
      expect(now() - begin < std::chrono::seconds(10) * slowness(), "long before a timeout");
    }
    world.barrier();
    if (rank != 1)  // they come late, and are told the same
      expect_throws<MismatchError>([&] { (void)world.new_group({0, 1, 2}, {.name = "all"}); });
    expect_equal(world.dup().size(), 3, "all of the world");
  });
  EXPECT_EQ(code, 0);
}

// They look as in the test before for longer than it takes to be sure, but another thread of each comes to
// the other call.
TEST(GroupMaking, RanksWithOtherThreadsAreNeverSure) {
  const int code = run_ranks(3, [](int rank, int) {
    ProcessGroup world = init();
    const auto make = [&](bool all) {
      expect_equal(world.new_group(all ? std::vector<int>{0, 1, 2} : std::vector<int>{0, 1}).size(),
                   all ? 3 : 2, "size");
    };
    if (rank == 2) return make(true);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2500));
      make(rank == 0);
    });
    make(rank == 1);
    other.join();
  });
  EXPECT_EQ(code, 0);
}

TEST(GroupMaking, WhoLeavesTheWorldDoesNotCome) {
  const int code = run_ranks(3, [](int rank, int) {
    ProcessGroup world = init();
    world.barrier();
    if (rank == 2) return;
    const auto left = expect_throws<PeerLeftError>([&] { (void)world.dup(); });
    expect_contains(left.what(), "rank 2 (");
    expect_contains(left.what(), "has left the world");
  });
  EXPECT_EQ(code, 0);
}

// Above the limit ranks link when they first need it; making a group links nobody, however long it takes.
TEST(GroupMaking, RanksWithoutLinksMakeGroupsToo) {
  const SharedPage<std::atomic<int>> looked;
  const int code = run_ranks(
      4,
      [&](int rank, int) {
        ProcessGroup world = init();
        // Rank 3 comes when the others have long begun to look for it.
        if (rank == 3) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        ProcessGroup pair = world.split(rank % 2);
        for (int other = 0; other < 4; ++other)
          expect(other == rank ||
                     world.describe().find("on demand to rank " + std::to_string(other)) != std::string::npos,
                 "no link to rank " + std::to_string(other));
        (*looked)++;  // to send makes links
        while (*looked < 4) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        expect_equal(pair.sendrecv(rank, 1 - pair.rank(), 1 - pair.rank()), (rank + 2) % 4, "the other");
        pair = ProcessGroup();
        world.barrier();
      },
      {.environment = {{"PARLEY_FULL_MESH_LIMIT", "1"}}});
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
