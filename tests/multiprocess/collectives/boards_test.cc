// Collectives in memory that the ranks of a host share: right results of every one of them, in sizes that go
// beside a mark, at once, and in many turns; ranks that are late, leave, or call something else; groups that
// come and go.
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/long_tests.h"
#include "tests/multiprocess/collectives/boards.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/sanitizer.h"
#include "tests/unit/api/collectives/every_collective.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// The same, and all have returned.
void warm_up_for_a_failure(ProcessGroup& group) {
  warm_up(group);
  await_return_of_all(group);
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Bytes of shared memory that this process has mapped.
std::size_t mapped_bytes() {
  std::size_t sum = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:") == std::string::npos) continue;
    const std::size_t dash = line.find('-');
    sum += std::stoull(line.substr(dash + 1), nullptr, 16) - std::stoull(line.substr(0, dash), nullptr, 16);
  }
  return sum;
}

class Boards : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(OfSoManyRanks, Boards,
                         ::testing::ValuesIn(sanitizer::is_on ? std::vector{2, 3} : std::vector{2, 3, 4, 7}));

TEST_P(Boards, GiveTheRightElementsInAllSizes) {
  const auto run = [](int, int) {
    ProcessGroup world = init();
    warm_up(world);
    expect_contains(world.describe_plan("all_reduce", 8), ": flat");
    // 14 floats stand beside a mark.
    for (const std::size_t count : {0, 1, 14, 15, 1000, 5'000, sanitizer::is_on ? 20'003 : 100'003})
      for (int root = 0; root<world.size(); root += count> 1000 ? 3 : 1)
        for (const bool in_place : {false, true})
          for (const bool async_op : {false, true})
            expect_every_collective(
                world, {.count = count, .root = root, .in_place = in_place, .async_op = async_op});
    expect_uneven_collectives(world, {.count = 30'000, .root = 1});
    expect_no_failure();
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, over_shm), 0);
}

TEST_P(Boards, ServeSeveralCallsThatAreUnderWayAtOnce) {
  const auto run = [](int, int) {
    ProcessGroup world = init();
    // From the first call on: while the ranks meet, too.
    std::vector<std::vector<double>> sums;
    std::vector<std::vector<int>> told;
    std::vector<Work> works;
    constexpr std::size_t calls = 60;
    for (std::size_t i = 0; i < calls; ++i) {
      sums.emplace_back(i % 5 == 0 ? 70'000 : i, world.rank() + static_cast<double>(i));
      told.emplace_back(3, world.rank());
    }
    for (std::size_t i = 0; i < calls; ++i) {
      works.push_back(world.all_reduce(sums[i], {.async_op = true}));
      works.push_back(world.broadcast(told[i], static_cast<int>(i) % world.size(), {.async_op = true}));
    }
    wait_all(works);
    const double ranks = world.size() * (world.size() - 1) / 2.0;
    for (std::size_t i = 0; i < calls; ++i) {
      EXPECT_EQ(sums[i], std::vector<double>(sums[i].size(), ranks + world.size() * static_cast<double>(i)));
      EXPECT_EQ(told[i], std::vector<int>(3, static_cast<int>(i) % world.size()));
    }
    expect_no_failure();
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, over_shm), 0);
}

// Who waits for long sleeps, and is woken.
TEST_P(Boards, WaitForWhoIsLateWithoutACore) {
  const auto run = [](int, int) {
    ProcessGroup world = init();
    warm_up(world);
    const double before = cpu_seconds();
    for (int late = 0; late < world.size(); ++late) {
      if (world.rank() == late) std::this_thread::sleep_for(300ms);
      std::vector<int> one{1};
      world.all_reduce(one);
      expect_equal(one[0], world.size(), "the sum");
    }
    const double asleep = 0.3 * (world.size() - 1);
    expect(cpu_seconds() - before < asleep / 2, "a rank that waits sleeps");
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, over_shm), 0);
}

// What one group has shown is not used again before all have read it.
TEST(Boards, OfGroupsThatComeAndGoAreUsedAgain) {
  const auto run = [](int, int) {
    ProcessGroup world = init();
    warm_up(world);
    std::size_t mapped = 0;
    for (int round = 0; round < (long_tests() ? 200 : 60); ++round) {
      ProcessGroup group = world.dup();
      for (int call = 0; call < 8; ++call) {
        std::vector<int> data(20'000, call == 7 && world.rank() == 0 ? round : -1);
        if (call < 7) {
          group.barrier();
          continue;
        }
        // The root goes on, and may have left before the others have come to read.
        if (world.rank() != 0) std::this_thread::sleep_for(std::chrono::microseconds(round % 3 * 300));
        group.broadcast(data, 0);
        EXPECT_EQ(data, std::vector<int>(20'000, round));
      }
      if (round == 15) mapped = mapped_bytes();
    }
    expect(mapped_bytes() <= mapped * 2, "memory does not grow with the number of groups");
    expect_no_failure();
    destroy();
  };
  EXPECT_EQ(run_ranks(3, run, over_shm), 0);
}

TEST(Boards, ShowWhoHasCalledSomethingElse) {
  const auto run = [](int rank, int) {
    ProcessGroup world = init();
    warm_up_for_a_failure(world);
    std::vector<float> data(4, 1.0F);
    const auto begun = steady_clock::now();
    const auto error = expect_throws<MismatchError>([&] {
      if (rank == 1)
        world.broadcast(data, 2);
      else
        world.all_reduce(data);
    });
    expect_contains(error.what(), "broadcast of");
    expect_contains(error.what(), "from rank 2");
    expect_contains(error.what(), "all_reduce(sum)");
    expect(steady_clock::now() - begun < 5s, "soon");
  };
  EXPECT_EQ(run_ranks(3, run, over_shm), 0);
}

// Ranks that differ in what they call, or in which call it is; until one of them learns of it.
using Calls = void (*)(ProcessGroup&, int rank);
void expect_mismatch(int ranks, Calls calls) {
  const auto run = [calls](int rank, int) {
    ProcessGroup world = init();
    warm_up_for_a_failure(world);
    const auto begun = steady_clock::now();
    expect_throws<MismatchError>([&] {
      calls(world, rank);
      for (int i = 0; i < 3; ++i) world.barrier();
    });
    expect(steady_clock::now() - begun < 8s, "within seconds");
  };
  EXPECT_EQ(run_ranks(ranks, run, over_shm), 0);
}

TEST(BoardsMismatch, OfAnEmptyCallAndAnother) {
  expect_mismatch(2, [](ProcessGroup& world, int rank) {
    std::vector<float> data(4, 1.0F), none;
    if (rank == 0) world.all_reduce(none);
    world.all_reduce(data);
    if (rank == 1) world.all_reduce(data);
  });
}

TEST(BoardsMismatch, OfTwoRoots) {
  expect_mismatch(3, [](ProcessGroup& world, int rank) {
    std::vector<float> data(4, 1.0F);
    world.broadcast(data, rank == 1 ? 1 : 0);
  });
}

// Nobody waits for what he sees of the others in that call, only in one of the next ones.
TEST(BoardsMismatch, OfRootsWhoOnlyShowAndThenOthersCalls) {
  expect_mismatch(2, [](ProcessGroup& world, int rank) {
    std::vector<float> data(2, 1.0F);
    world.broadcast(data, rank);
    for (int i = 0; i < 20; ++i) world.all_reduce(data);
    expect(false, "found out by one of the next calls");
  });
}

TEST(BoardsMismatch, OfRootsWhoOnlyShowAndThenShowMore) {
  expect_mismatch(2, [](ProcessGroup& world, int rank) {
    std::vector<float> data(2, 1.0F);
    world.broadcast(data, rank);
    world.broadcast(data, 0);
  });
}

TEST(BoardsMismatch, OfUnevenCountsThatAreAsManyTogether) {
  expect_mismatch(2, [](ProcessGroup& world, int rank) {
    std::vector<float> first(rank == 0 ? 2 : 5), second(rank == 0 ? 4 : 1);
    world.all_gather({first, second}, rank == 0 ? first : second);
  });
}

TEST(BoardsMismatch, OfCallsInAnotherOrder) {
  expect_mismatch(2, [](ProcessGroup& world, int rank) {
    std::vector<float> data(4, 1.0F);
    if (rank == 0) world.scan(data);
    world.all_reduce(data);
    if (rank == 1) world.scan(data);
  });
}

TEST(BoardsMismatch, OfOneWhoOnlyReceives) {
  expect_mismatch(2, [](ProcessGroup& world, int rank) {
    std::vector<float> data(4, 1.0F), out(4);
    if (rank == 0)
      world.all_reduce(data);
    else
      world.scan(data);
  });
}

// Who leaves is not needed any more when he has told the last of the meeting.
TEST(Boards, ARankMayLeaveAfterTheCallInWhichTheRanksMeet) {
  const auto run = [](int rank, int) {
    ProcessGroup world = init();
    for (int call = 0; call < 4; ++call) world.barrier();
    std::vector<int> data(100, rank);
    world.broadcast(data, 0);
    EXPECT_EQ(data, std::vector<int>(100, 0));
    expect_no_failure();
    destroy();
  };
  for (int i = 0; i < 20; ++i) ASSERT_EQ(run_ranks(4, run, over_shm), 0);
}

// One goes by messages, for only it knows its counts; so nothing but time shows it.
TEST(Boards, ShowWhoCallsSomethingThatGoesByMessages) {
  const auto run = [](int rank, int) {
    ProcessGroup world = init();
    warm_up_for_a_failure(world);
    std::vector<float> data(4, 1.0F), out(4);
    const auto begun = steady_clock::now();
    const auto error = expect_throws<MismatchError>([&] {
      if (rank == 1)
        world.all_to_all_single(out, data, {.output_split_sizes = {2, 2}, .input_split_sizes = {2, 2}});
      else
        world.all_reduce(data);
    });
    expect_contains(error.what(), "all_to_all");
    expect_contains(error.what(), "all_reduce(sum)");
    expect(steady_clock::now() - begun < 8s, "within seconds");
  };
  EXPECT_EQ(run_ranks(2, run, over_shm), 0);
}

TEST(Boards, TellOfARankThatHasLeft) {
  const auto run = [](int rank, int) {
    ProcessGroup world = init();
    warm_up_for_a_failure(world);
    if (rank == 1) return destroy();
    std::vector<float> data(4, 1.0F);
    const auto begun = steady_clock::now();
    const auto error = expect_throws<Error>([&] {
      for (;;) world.all_reduce(data);
    });
    expect_contains(error.what(), "rank 1");
    expect(steady_clock::now() - begun < 8s, "within seconds");
  };
  EXPECT_EQ(run_ranks(3, run, over_shm), 0);
}

// The root has shown all, and is gone before the others look.
TEST(Boards, OfARankThatHasLeftCanStillBeRead) {
  const auto run = [](int rank, int) {
    ProcessGroup world = init();
    warm_up(world);
    std::vector<int> data(30'000, rank);
    if (rank != 0) std::this_thread::sleep_for(200ms);
    world.broadcast(data, 0);
    EXPECT_EQ(data, std::vector<int>(30'000, 0));
    expect_no_failure();
    destroy();
  };
  EXPECT_EQ(run_ranks(3, run, over_shm), 0);
}

TEST(Boards, ATimeoutNamesWhoHasNotCome) {
  const auto run = [](int rank, int) {
    ProcessGroup world = init();
    warm_up_for_a_failure(world);
    std::vector<float> data(4, 1.0F);
    if (rank == 2) std::this_thread::sleep_for(1500ms);
    // What is late finds all that it needs, and learns what has become of the group in its next call.
    const auto error = expect_throws<Error>([&] {
      do world.all_reduce(data, {.timeout = 700ms});
      while (rank == 2);
    });
    expect_contains(error.what(), "it waited for rank 2");
  };
  EXPECT_EQ(run_ranks(3, run, over_shm), 0);
}

// While the ranks meet, which is before the fifth call.
TEST(Boards, ATimeoutOfTheMeetingEndsTheGroupAndNothingElse) {
  const auto run = [](int rank, int) {
    ProcessGroup world = init();
    for (int round = 0; round < 5; ++round) {
      ProcessGroup group = world.dup();
      for (int call = 0; call < 4; ++call) group.barrier();
      std::vector<float> data(4, 1.0F);
      if (rank == 2) std::this_thread::sleep_for(300ms);
      const auto error = expect_throws<Error>([&] {
        do group.all_reduce(data, {.timeout = 100ms});
        while (rank == 2);
      });
      expect_contains(error.what(), "it waited for rank 2");
    }
    std::vector<int> one{1};
    for (int call = 0; call < 10; ++call) world.all_reduce(one);
    expect_equal(one[0], 59'049, "three, ten times");
    destroy();
  };
  EXPECT_EQ(run_ranks(3, run, over_shm), 0);
}

}  // namespace
}  // namespace parley::testing
