// Collectives of one group on its boards, several under way at once: they take turns, in the order of their
// calls. Deadlines of those that wait for their turn, and aborts while some do; what is over then, and what
// is not. Messages that come meanwhile.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/collectives/boards.h"
#include "tests/multiprocess/support/cores.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

const RanksOptions queues_over_shm{.timeout = 30s, .environment = over_shm.environment};
constexpr std::size_t large = 300'000;  // elements: in several turns, and in pieces

int sum_of_ranks(const ProcessGroup& group) {
  return group.size() * (group.size() - 1) / 2;
}

// The group is over, its neighbours are not.
void expect_world_goes_on(ProcessGroup& world) {
  for (int call = 0; call < 12; ++call) {
    std::vector<int> value(call % 3 == 0 ? 20'000 : 2, world.rank());
    world.all_reduce(value);
    expect(value == std::vector<int>(value.size(), sum_of_ranks(world)), "a sum in the world");
  }
}

template <typename Failure = Error>
std::string expect_failure(Work& work) {
  return expect_throws<Failure>([&] { work.wait(); }).what();
}

// The last rank is late: it waits until all others have said that they are done with something.
bool is_late(const ProcessGroup& world) {
  return world.rank() == world.size() - 1;
}
void await_the_others(ProcessGroup& world) {
  for (int other = 0; other < world.size() - 1; ++other) (void)world.recv<int>(other);
}
void tell_who_is_late(ProcessGroup& world) {
  world.send(0, world.size() - 1);
}

class Queue : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(OfSoManyRanks, Queue, ::testing::Values(2, 3, 4));

// What waits for its turn has the shorter deadline, and its end is that of all.
TEST_P(Queue, ADeadlineOfWhatWaitsForItsTurnEndsTheGroup) {
  const auto run = [](int rank, int ranks) {
    ProcessGroup world = init();
    ProcessGroup group = group_on_boards(world);
    std::vector<int> first(4, rank), second(large, rank), third(4, rank);
    const std::string late = "rank " + std::to_string(ranks - 1);
    if (is_late(world)) {
      await_the_others(world);
      expect_throws<Error>([&] {
        for (;;) group.all_reduce(first);  // finds what it needs, perhaps, and then learns of the end
      });
    } else {
      std::vector<Work> works;
      works.push_back(group.all_reduce(first, {.async_op = true, .timeout = 20s}));
      works.push_back(group.all_reduce(second, {.async_op = true, .timeout = 100ms}));
      works.push_back(group.all_reduce(third, {.async_op = true, .timeout = 20s}));
      // Last to first: nobody waits for the one that has the turn.
      for (auto work = works.rbegin(); work != works.rend(); ++work)
        expect_contains(expect_failure(*work), "it waited for " + late);
      tell_who_is_late(world);
    }
    expect_throws<Error>([&] { group.barrier(); });
    group = {};
    expect_world_goes_on(world);
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, queues_over_shm), 0);
}

// The same, told by its own error: that it is a deadline, and which call's.
TEST(Queue, WhoseDeadlineHasPassedGetsATimeoutError) {
  const auto run = [](int rank, int) {
    ProcessGroup world = init();
    ProcessGroup group = group_on_boards(world);
    std::vector<double> first(4), second(4);
    if (rank == 0) {
      Work begun = group.all_reduce(first, {.async_op = true, .timeout = 20s});
      Work queued = group.broadcast(second, 1, {.async_op = true, .timeout = 100ms});
      expect_contains(expect_failure<TimeoutError>(queued), "broadcast of 4 f64 from rank 1");
      expect_contains(expect_failure(begun), "broadcast of 4 f64 from rank 1");
    }
    world.barrier();
    if (rank == 1)
      expect_contains(expect_throws<Error>([&] {
                        for (;;) group.all_reduce(first);  // the first time it finds what it needs
                      }).what(),
                      "broadcast of 4 f64 from rank 1");
    expect_world_goes_on(world);
    destroy();
  };
  EXPECT_EQ(run_ranks(2, run, queues_over_shm), 0);
}

// The deadline of the call counts, not that of the wait: then it is still under way.
TEST_P(Queue, AWaitThatGivesUpLeavesWhatWaitsForItsTurn) {
  const auto run = [](int rank, int) {
    ProcessGroup world = init();
    ProcessGroup group = group_on_boards(world);
    for (int round = 0; round < 3; ++round) {
      std::vector<int> first(large, rank), second(4, rank);
      if (is_late(world)) await_the_others(world);
      Work begun = group.all_reduce(first, {.async_op = true});
      Work queued = group.all_reduce(second, {.async_op = true});
      if (!is_late(world)) {
        expect_throws<TimeoutError>([&] { queued.wait(20ms); });
        expect_throws<TimeoutError>([&] { begun.wait(1ms); });
        expect(!queued.cancel(), "a collective cannot be taken back");
        tell_who_is_late(world);
      }
      queued.wait();
      begun.wait();
      expect(first == std::vector<int>(large, sum_of_ranks(group)), "the first sum");
      expect(second == std::vector<int>(4, sum_of_ranks(group)), "the second sum");
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, queues_over_shm), 0);
}

// Shorter and shorter deadlines, all of them long enough.
TEST_P(Queue, EachCallHasADeadlineOfItsOwn) {
  const auto run = [](int rank, int) {
    ProcessGroup world = init();
    ProcessGroup group = group_on_boards(world);
    for (int round = 0; round < 5; ++round) {
      constexpr std::size_t calls = 50;
      std::vector<std::vector<int>> values;
      std::vector<Work> works;
      for (std::size_t i = 0; i < calls; ++i) values.emplace_back(i % 10 == 3 ? large / 4 : i, rank);
      for (std::size_t i = 0; i < calls; ++i)
        works.push_back(
            group.all_reduce(values[i], {.async_op = true, .timeout = std::chrono::seconds(1000 - 10 * i)}));
      for (auto work = works.rbegin(); work != works.rend(); ++work) work->wait();
      for (const auto& value : values)
        expect(value == std::vector<int>(value.size(), sum_of_ranks(group)), "one of many sums");
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, queues_over_shm), 0);
}

// One rank ends the group, while it and others have calls that wait for their turn, and one has not come.
TEST_P(Queue, AnAbortEndsAllThatWaitForTheirTurn) {
  const auto run = [](int rank, int ranks) {
    ProcessGroup world = init();
    for (int round = 0; round < 4; ++round) {
      ProcessGroup group = group_on_boards(world);
      std::vector<std::vector<int>> values(20);
      for (std::size_t i = 0; i < values.size(); ++i) values[i].assign(i % 2 == 0 ? 4 : large / 10, rank);
      std::vector<Work> works;
      const auto begin_all = [&] {
        for (auto& value : values) works.push_back(group.all_reduce(value, {.async_op = true}));
      };
      if (!is_late(world)) begin_all();
      world.barrier();
      if (rank == (round % 2 == 0 ? 0 : ranks - 1)) group.abort("enough");
      for (Work& work : works) expect_contains(expect_failure<AbortedError>(work), "enough");
      world.barrier();
      // It may find what it needs for the first one, before it learns of the abort.
      if (is_late(world))
        expect_throws<AbortedError>([&] {
          for (auto& value : values) group.all_reduce(value);
        });
      const auto again = expect_throws<AbortedError>([&] { group.barrier(); });
      expect_contains(again.what(), "enough");
      for (auto& value : values) value.assign(value.size(), -1);  // they are ours again
      group = {};
      expect_world_goes_on(world);
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, queues_over_shm), 0);
}

// In the middle of large ones, at any time.
TEST_P(Queue, AnAbortAtAnyTimeEndsEachCallWellOrNot) {
  const auto run = [](int rank, int ranks) {
    ProcessGroup world = init();
    for (int round = 0; round < 15; ++round) {
      ProcessGroup group = group_on_boards(world);
      std::vector<std::vector<int>> values;
      std::vector<Work> works;
      for (int i = 0; i < 20; ++i) values.emplace_back(i % 4 == 3 ? large : 100 * i, rank);
      std::thread aborter;
      if (rank == round % ranks)
        aborter = std::thread([&] {
          std::this_thread::sleep_for(std::chrono::microseconds(round * 300));
          group.abort("enough");
        });
      bool is_over = false;
      const auto note = [&](const std::exception& error) {
        expect_contains(error.what(), "enough");
        is_over = true;
      };
      try {
        for (auto& value : values) works.push_back(group.all_reduce(value, {.async_op = true}));
      } catch (const AbortedError& error) {
        note(error);
      }
      for (std::size_t i = 0; i < works.size(); ++i) {
        try {
          works[i].wait();
          expect(!is_over, "what comes after a call that failed fails, too");
          expect(values[i] == std::vector<int>(values[i].size(), sum_of_ranks(world)), "a sum");
        } catch (const AbortedError& error) {
          note(error);
        }
      }
      if (aborter.joinable()) aborter.join();
      expect_throws<AbortedError>([&] {
        for (;;) group.barrier();
      });
      group = {};
      expect_world_goes_on(world);
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, queues_over_shm), 0);
}

// Blocking calls of two threads, each in a group of its own, and asynchronous ones of a third group
// meanwhile. With more ranks than cores each call lets the others of its process in while it waits.
TEST_P(Queue, ThreadsDoNotDisturbEachOthersGroups) {
  const auto run = [](int rank, int ranks) {
    ProcessGroup world = init();
    ProcessGroup groups[] = {group_on_boards(world), group_on_boards(world)};
    ProcessGroup aside = group_on_boards(world);
    const auto call_all = [rank, ranks](ProcessGroup& group, int first) {
      for (int i = 0; i < 1500; ++i) {
        const int root = (first + i) % ranks;
        // Beside the mark, and in a stage; each of another plan than the one before.
        std::vector<int> sum(i % 3 == 0 ? 500 : 2, rank + i), from_root(1 + i % 5, rank == root ? i : -1);
        group.all_reduce(sum);
        expect(sum == std::vector<int>(sum.size(), ranks * (ranks - 1) / 2 + ranks * i), "a sum");
        group.broadcast(from_root, root);
        expect(from_root == std::vector<int>(from_root.size(), i), "what the root has");
        group.barrier();
      }
    };
    std::thread other([&] { call_all(groups[1], 1); });
    std::vector<int> slow(large, 1);
    Work begun = aside.all_reduce(slow, {.async_op = true});
    call_all(groups[0], 0);
    other.join();
    begun.wait();
    expect(slow == std::vector<int>(slow.size(), ranks), "a sum that was under way");
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, queues_over_shm), 0);
}

// Too large to leave without its receiver, so that rank 0 comes only when who waits for it on the boards has
// taken it.
TEST(Queue, WhoWaitsOnTheBoardsReceivesMessagesMeanwhile) {
  for (const std::string transports : {"shm", "shm,^cma"}) {
    const auto run = [](int rank, int) {
      ProcessGroup world = init();
      ProcessGroup group = group_on_boards(world);
      std::vector<int> data(std::size_t{8} << 20, 7 - rank);
      Work message;
      if (rank == 0)
        world.send(data, 1);
      else
        message = world.irecv(data, 0);
      group.barrier();
      if (rank != 0) message.wait();
      expect(data.front() == 7 && data.back() == 7, "what rank 0 has sent is here");
      destroy();
    };
    EXPECT_EQ(run_ranks(2, run, {.timeout = 30s, .environment = {{"PARLEY_TRANSPORTS", transports}}}), 0);
  }
}

// Two threads in one group, with calls that are the same, so that their order does not matter: whoever comes
// second waits for the turn of a call that lets the lock go while it waits, and goes on when that has ended.
// With more ranks than cores, for only then it does.
TEST(Queue, ACallBehindOneThatYieldsGoesOn) {
  const auto run = [](int, int) {
    keep_to_cores(2);
    ProcessGroup world = init();
    ProcessGroup group = group_on_boards(world);
    for (int round = 0; round < 200; ++round) {
      std::thread other([&] {
        for (int i = 0; i < 3; ++i) group.barrier();
      });
      Work begun = group.barrier({.async_op = true});
      group.barrier();
      begun.wait();
      other.join();
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(4, run, queues_over_shm), 0);
}

}  // namespace
}  // namespace parley::testing
