// Ranks in an event loop, which learn of the end of collectives on boards from poll(fd()) alone: of marks
// nothing tells them but the bell of who has published. One rank comes late, when the others are in poll().

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/collectives/boards.h"
#include "tests/multiprocess/event_loop/loop.h"
#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t seed = 4713;
constexpr int most_loops = 16;
using Rooms = std::array<Room, most_loops>;  // one for each rank in a loop

// What is called in a step, begun without waiting.
struct BegunCall {
  Work work;
  std::vector<int> in, out, expected;
};

// The same on all ranks, of whom each needs the root.
BegunCall begin_call(ProcessGroup& group, std::int64_t step, int root, Random& random) {
  const int ranks = group.size(), rank = group.rank();
  constexpr std::size_t counts[] = {1, 14, 15, 5000, 200'000};  // beside the mark, at once, in many turns
  const std::size_t count = counts[random.below(std::size(counts))];
  const int value = static_cast<int>(step);
  BegunCall call;
  switch (random.below(4)) {
    case 0:
      call.out.assign(count, rank + value);
      call.expected.assign(count, ranks * (ranks - 1) / 2 + ranks * value);
      call.work = group.all_reduce(call.out, {.async_op = true});
      break;
    case 1:
      call.out.assign(count, rank == root ? value : -1);
      call.expected.assign(count, value);
      call.work = group.broadcast(call.out, root, {.async_op = true});
      break;
    case 2:
      call.in.assign(count, rank + value);
      call.out.assign(count * static_cast<std::size_t>(ranks), -1);
      for (int other = 0; other < ranks; ++other)
        call.expected.insert(call.expected.end(), count, other + value);
      call.work = group.all_gather_into_tensor(call.out, call.in, {.async_op = true});
      break;
    default: call.work = group.barrier({.async_op = true}); break;
  }
  return call;
}

class EventLoopOnBoards : public ::testing::TestWithParam<int> {};
// The last: more ranks than cores, up to a dozen of these.
INSTANTIATE_TEST_SUITE_P(
    OfSoManyRanks, EventLoopOnBoards,
    ::testing::Values(2, 4,
                      std::clamp<int>(static_cast<int>(std::thread::hardware_concurrency()) + 3, 5,
                                      most_loops)));

// The late rank blocks; all others are in their loops, and none of them calls anything that waits.
TEST_P(EventLoopOnBoards, MarksWakeThePoll) {
  const SharedPage<Rooms> rooms;
  const std::int64_t steps = long_tests() ? 1000 : 20;
  const auto run = [&](int rank, int ranks) {
    ProcessGroup world = init();
    ProcessGroup group = group_on_boards(world);
    Random shared(seed), own(seed + static_cast<std::uint64_t>(rank));
    Room& room = (*rooms)[static_cast<std::size_t>(rank)];
    Loop loop(world, room);
    for (std::int64_t step = 0; step < steps; ++step) {
      const int late = static_cast<int>(shared.below(static_cast<std::size_t>(ranks)));
      if (rank == late)
        for (int other = 0; other < ranks; ++other)
          if (other != rank) await_step((*rooms)[static_cast<std::size_t>(other)], step, own);
      BegunCall call = begin_call(group, step, late, shared);
      if (rank == late)
        call.work.wait();
      else
        loop.run_until([&] { return call.work.test(); });
      expect(call.out == call.expected, "elements of step " + std::to_string(step));
      ++room.done;
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, long_over_shm), 0) << "seed " << seed;
}

// Several under way, which take turns: the end of each is an event.
TEST_P(EventLoopOnBoards, MarksWakeThePollForEachOfSeveral) {
  const SharedPage<Rooms> rooms;
  const std::int64_t steps = long_tests() ? 200 : 8;
  const auto run = [&](int rank, int ranks) {
    ProcessGroup world = init();
    ProcessGroup group = group_on_boards(world);
    Random shared(seed), own(seed + static_cast<std::uint64_t>(rank));
    Room& room = (*rooms)[static_cast<std::size_t>(rank)];
    Loop loop(world, room);
    for (std::int64_t step = 0; step < steps; ++step) {
      const int late = static_cast<int>(step) % ranks;
      std::vector<BegunCall> calls;
      for (int i = 0; i < 6; ++i) {
        // Others wait for the late rank within the step, again and again.
        if (rank == late && i % 2 == 0) {
          const int next = (rank + 1) % ranks;
          await([&] { return (*rooms)[static_cast<std::size_t>(next)].done == step; },
                "the next rank's step");
          std::this_thread::sleep_for(std::chrono::microseconds(own.below(1500)));
        }
        calls.push_back(begin_call(group, step, late, shared));
      }
      for (BegunCall& call : calls) {
        loop.run_until([&] { return call.work.test(); });
        expect(call.out == call.expected, "elements of step " + std::to_string(step));
      }
      ++room.done;
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, long_over_shm), 0) << "seed " << seed;
}

// The same while the ranks meet, from the first call of a group on.
TEST_P(EventLoopOnBoards, AMeetingWakesThePoll) {
  const SharedPage<Rooms> rooms;
  const int groups = long_tests() ? 100 : 4;
  const auto run = [&](int rank, int) {
    ProcessGroup world = init();
    world.barrier();
    Random shared(seed), own(seed + static_cast<std::uint64_t>(rank));
    Loop loop(world, (*rooms)[static_cast<std::size_t>(rank)]);
    for (int i = 0; i < groups; ++i) {
      ProcessGroup group = world.dup();
      for (int step = 0; step < 8; ++step) {
        if (own.one_in(4)) std::this_thread::sleep_for(std::chrono::microseconds(own.below(2000)));
        BegunCall call = begin_call(group, step, step % group.size(), shared);
        loop.run_until([&] { return call.work.test(); });
        expect(call.out == call.expected, "elements of step " + std::to_string(step));
      }
      expect_contains(group.describe_plan("all_reduce", 8), ": flat");
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, long_over_shm), 0) << "seed " << seed;
}

// Who publishes nothing any more.
TEST_P(EventLoopOnBoards, ADeathWakesThePoll) {
  const SharedPage<Rooms> rooms;
  const auto run = [&](int rank, int ranks) {
    std::signal(SIGTERM, SIG_IGN);  // spawn() asks the others to end
    ProcessGroup world = init();
    ProcessGroup group = group_on_boards(world);
    Random shared(seed);
    barrier_before_death(world, 0);
    if (rank == 0) {
      for (int other = 1; other < ranks; ++other)
        await([&] { return (*rooms)[static_cast<std::size_t>(other)].in_poll.load(); },
              "the loops are in poll()");
      kill(getpid(), SIGKILL);
    }
    Room& room = (*rooms)[static_cast<std::size_t>(rank)];
    Loop loop(world, room);
    BegunCall call = begin_call(group, 1, 0, shared);
    Work barrier = group.barrier({.async_op = true});
    loop.run_until([&] { return barrier.test(); });
    expect_equal(expect_throws<PeerDiedError>([&] { barrier.wait(); }).details().culprit, 0, "culprit");
    ++room.done;
  };
  EXPECT_EQ(run_ranks(GetParam(), run, long_over_shm), killed_exit_code);
  for (int rank = 1; rank < GetParam(); ++rank) EXPECT_EQ((*rooms)[static_cast<std::size_t>(rank)].done, 1);
}

TEST_P(EventLoopOnBoards, ADeadlineWakesThePoll) {
  const SharedPage<Rooms> rooms;
  const auto run = [&](int rank, int ranks) {
    ProcessGroup world = init();
    ProcessGroup group = group_on_boards(world);
    std::vector<int> value(5, rank);
    if (rank != 0) {
      Loop loop(world, (*rooms)[static_cast<std::size_t>(rank)]);
      Work work = group.all_reduce(value, {.async_op = true, .timeout = 100ms});
      loop.run_until([&] { return work.test(); });
      expect_contains(expect_throws<Error>([&] { work.wait(); }).what(), "it waited for rank 0");
      world.send(0, 0);
    }
    for (int other = 1; rank == 0 && other < ranks; ++other) (void)world.recv<int>(other);
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, long_over_shm), 0);
}

}  // namespace
}  // namespace parley::testing
