// Who dies is missed by its own groups only.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

constexpr int victim = 3;

// A lap of small and large messages, received from any source.
void exchange(ProcessGroup& group) {
  const int size = group.size();
  for (const std::size_t count : {std::size_t{1}, std::size_t{300'000}}) {
    const std::vector<int> out(count, group.rank());
    std::vector<int> in(count);
    const RecvStatus status = group.sendrecv(out, (group.rank() + 1) % size, in, any_source);
    expect_equal(status.source, (group.rank() + size - 1) % size, "source");
    expect(in == std::vector<int>(count, status.source), "content");
    group.barrier();
  }
}

// Ranks 0 and 1 are a group, as are 2 and 3. Rank 3 is killed; rank 2 leaves because of that.
TEST(GroupDeath, DisjointGroupsGoOn) {
  const SharedPage<std::atomic<int>> content;  // survivors that found all as expected
  const int code = run_ranks(4, [&](int rank, int) {
    std::signal(SIGTERM, SIG_IGN);  // spawn() asks the others to end as soon as one has died
    ProcessGroup world = init();
    ProcessGroup group = world.split(rank / 2, 0, {.name = rank < 2 ? "living" : "bereaved"});
    exchange(group);
    barrier_before_death(world, victim);
    if (rank == victim) {
      kill(getpid(), SIGKILL);
    } else if (rank == 2) {
      const auto died = expect_throws<PeerDiedError>([&] { (void)group.recv<int>(any_source); });
      expect_equal(died.details().culprit, victim, "culprit");
      expect_contains(died.what(), "in group \"bereaved\" {2, 3} failed: rank 3 (");
      expect_throws<PeerDiedError>([&] { group.barrier(); });
      expect_throws<PeerDiedError>([&] { (void)world.new_group({2, 0, 3}); });
      ++*content;
      return;
    }
    Work pending = group.irecv(Tensor::zeros({1}, DType::i32), any_source, {.tag = 9});
    expect_throws<PeerDiedError>([&] { (void)world.recv<int>(any_source); });  // all of the world has lost it
    // Few: spawn() kills those who go on 5 s after it has asked them to end.
    for (int round = 0; round < 3; ++round) exchange(group);
    group.send(1, 1 - group.rank(), {.tag = 9});
    expect_equal(pending.wait().source, 1 - group.rank(), "source");
    // Groups of the living can still be made; one with the dead fails at once.
    ProcessGroup later = world.new_group({1, 0});
    exchange(later);
    const auto died = expect_throws<PeerDiedError>([&] { (void)world.new_group({0, 1, victim}); });
    expect_equal(died.details().culprit, victim, "culprit");
    expect_contains(died.what(), "new_group({0, 1, 3}) failed: rank 3 (");
    exchange(group);
    ++*content;
  });
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_EQ(*content, 3);
}

// Rank 2 is told of the death in the world, and leaves the group because of that, before rank 1 has looked:
// who waits in the group for both shall name the dead one all the same.
TEST(GroupDeath, IsPassedOnByWhoLeavesBecauseOfIt) {
  constexpr int dead = 0;
  const SharedPage<std::atomic<int>> content;
  for (int round = 0; round < 20; ++round) {
    const int code = run_ranks(3, [&](int rank, int) {
      std::signal(SIGTERM, SIG_IGN);
      ProcessGroup world = init();
      std::optional<ProcessGroup> group = world.new_group({0, 1, 2});
      barrier_before_death(world, dead);
      if (rank == dead) {
        std::this_thread::sleep_for(std::chrono::milliseconds(round));
        kill(getpid(), SIGKILL);
      }
      const auto died = expect_throws<PeerDiedError>([&] { (rank == 2 ? world : *group).barrier(); });
      expect_equal(died.details().culprit, dead, std::string("culprit of: ") + died.what());
      group.reset();
      if (rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      ++*content;
    });
    EXPECT_EQ(code, killed_exit_code);
  }
  EXPECT_EQ(*content, 40);
}

// It dies while the others wait for it in new_group().
TEST(GroupDeath, EndsTheMakingOfAGroupForAllMembers) {
  const SharedPage<std::atomic<int>> content;
  const int code = run_ranks(4, [&](int rank, int) {
    std::signal(SIGTERM, SIG_IGN);
    ProcessGroup world = init();
    barrier_before_death(world, victim);
    if (rank == victim) {
      (void)world.recv<int>(0);
      kill(getpid(), SIGKILL);
    }
    if (rank == 0) world.send(1, victim);
    const auto died = expect_throws<PeerDiedError>([&] { (void)world.split(0); });
    expect_equal(died.details().culprit, victim, "culprit");
    expect_contains(died.what(), "split() of group \"world\" failed: rank 3 (");
    expect_contains(died.what(), "died");
    ++*content;
  });
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_EQ(*content, 3);
}

}  // namespace
}  // namespace parley::testing
