// Ranks that leave, in good order or because of another one.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/log_lines.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t large_bytes = std::size_t{4} << 20;

// spawn() asks the others to end as soon as one has died.
void outlive_the_victim() {
  std::signal(SIGTERM, SIG_IGN);
}

TEST(Leaving, InGoodOrderIsPeerLeftForThoseWhoStillNeedIt) {
  const int code = run_ranks(3, [](int rank, int) {
    ProcessGroup world = init();
    if (rank == 0) {
      world.send(1.0F, 1);
      return;
    }
    const int other = 3 - rank;
    std::vector<std::byte> large(large_bytes);
    if (rank == 1) expect_equal(world.recv<float>(0), 1.0F, "what was sent before");
    const auto received = expect_throws<PeerLeftError>([&] { world.recv<float>(0); });
    expect_equal(received.details().culprit, 0, "culprit");
    expect_contains(received.what(), "rank 0 (");
    expect_contains(received.what(), "has left the group");
    expect_throws<PeerLeftError>([&] { world.send(large, 0); });
    expect_throws<PeerLeftError>([&] { world.send(1.0F, 0); });
    expect_throws<PeerLeftError>([&] { world.barrier(); });
    // The others go on; a receive from any source does not mind who left in good order.
    Work receive = world.irecv(large, any_source);
    world.send(large, other);
    expect_equal(receive.wait().source, other, "source");
  });
  EXPECT_EQ(code, 0);
}

// What rank 0 has begun to send and let go of, small and large; rank 1 asks for it when rank 0 is on its way
// out.
TEST(Leaving, FlushesWhatIsStillOnItsWay) {
  const SharedPage<std::atomic<bool>> leaves;
  const int code = run_ranks(2, [&](int rank, int) {
    const LogLines lines;
    ProcessGroup world = init();
    if (rank == 0) {
      for (const std::size_t bytes : {std::size_t{8}, large_bytes}) {
        const auto data = std::make_shared<std::vector<std::byte>>(bytes, std::byte{7});
        world.isend(*data, 1).detach(data);
      }
      *leaves = true;
      destroy();
      return expect(lines.with("not delivered").empty(), "all was delivered");
    }
    await([&] { return leaves->load(); }, "rank 0 leaves");
    for (const std::size_t bytes : {std::size_t{8}, large_bytes}) {
      std::vector<std::byte> data(bytes);
      world.recv(data, 0);
      expect(data == std::vector<std::byte>(bytes, std::byte{7}), "the bytes");
    }
  });
  EXPECT_EQ(code, 0);
}

// Rank 1 lives and never asks for it.
TEST(Leaving, ReportsWhatNobodyHasTakenInTime) {
  const SharedPage<std::atomic<bool>> has_left;
  const int code = run_ranks(2, [&](int rank, int) {
    const LogLines lines;
    ProcessGroup world = init();
    if (rank == 1) return await([&] { return has_left->load(); }, "rank 0 has left", 60s);
    for (int i = 0; i < 3; ++i) {
      const auto data = std::make_shared<std::vector<std::byte>>(large_bytes);
      world.isend(*data, 1).detach(data);
    }
    destroy();
    *has_left = true;
    const auto report = lines.with("leaving with 3 messages not delivered");
    expect_equal(report.size(), std::size_t{1}, "reports");
    expect(report[0].level == LogLevel::warn, "a warning");
  });
  EXPECT_EQ(code, 0);
}

// Rank 2 dies; rank 1 notices and leaves by an exception; rank 0, which never spoke with rank 2, names
// rank 2.
TEST(Leaving, BecauseOfADeathNamesTheDead) {
  const SharedPage<std::atomic<int>> passed;  // spawn() ends with the victim's result
  const int code = run_ranks(3, [&](int rank, int) {
    outlive_the_victim();
    ProcessGroup world = init();
    barrier_before_death(world, 2);
    if (rank == 2) {
      world.send(1, 1);
      die();
    }
    std::vector<std::byte> data(1000);
    if (rank == 1) {
      world.recv<int>(2);
      try {
        world.recv(data, 2);
      } catch (const PeerDiedError&) {
        ++*passed;
        throw;
      }
    }
    const auto error = expect_throws<PeerDiedError>([&] { world.recv(data, 1); });
    expect_equal(error.details().culprit, 2, "culprit");
    expect_contains(error.what(), "rank 2 (");
    ++*passed;
  });
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_EQ(*passed, 2);
}

// The same while rank 0 writes to rank 1 without a pause: a broken pipe must not hide rank 1's goodbye.
TEST(Leaving, BecauseOfADeathNamesTheDeadToThoseWhoOnlySend) {
  const SharedPage<std::atomic<int>> passed;  // spawn() ends with the victim's result
  const int code = run_ranks(3, [&](int rank, int) {
    outlive_the_victim();
    ProcessGroup world = init();
    barrier_before_death(world, 2);
    if (rank == 2) {
      world.recv<int>(1);
      die();
    }
    if (rank == 1) {
      for (int i = 0; i < 2000; ++i) world.recv<int>(0);
      world.send(1, 2);
      try {
        world.recv<int>(2);
      } catch (const PeerDiedError&) {
        ++*passed;
        throw;
      }
    }
    const auto error = expect_throws<PeerDiedError>([&] {
      for (int i = 0;; ++i) world.send(i, 1);
    });
    expect_equal(error.details().culprit, 2, "culprit");
    const auto again = expect_throws<PeerDiedError>([&] { world.send(1, 1); });
    expect_equal(again.details().culprit, 2, "culprit of a later call");
    ++*passed;
  });
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_EQ(*passed, 2);
}

TEST(AnySource, FailsOnceAndWorksAgainWhenTheFailureIsAcknowledged) {
  const SharedPage<std::atomic<int>> passed;  // spawn() ends with the victim's result
  const int code = run_ranks(4, [&](int rank, int) {
    outlive_the_victim();
    ProcessGroup world = init();
    barrier_before_death(world, 3);
    if (rank == 3) die();
    if (rank == 0) {
      const auto pending = expect_throws<PeerDiedError>([&] { world.recv<int>(any_source); });
      expect_equal(pending.details().culprit, 3, "culprit");
      const auto later = expect_throws<PeerDiedError>([&] { world.recv<int>(any_source); });
      expect_equal(later.details().culprit, 3, "culprit of a later call");
      world.acknowledge_failures();
      for (const int other : {1, 2}) world.send(0, other, {.tag = 1});
      int sum = 0;
      for (int i = 0; i < 20; ++i) sum += world.recv<int>(any_source);
      expect_equal(sum, 30, "sum of ten times 1 and ten times 2");
      for (const int other : {1, 2}) world.send(0, other, {.tag = 2});
    } else {
      world.recv<int>(0, {.tag = 1});
      for (int i = 0; i < 10; ++i) world.send(rank, 0);
      world.recv<int>(0, {.tag = 2});
      expect_throws<PeerDiedError>([&] { world.recv<int>(3); });
    }
    ++*passed;
  });
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_EQ(*passed, 3);
}

}  // namespace
}  // namespace parley::testing
