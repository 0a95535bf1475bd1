// Two ranks that wait for each other are told so within 15 s; ranks that are only slow are left alone.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// In all three pairs at once, for each takes more than ten seconds.
void expect_deadlock(const std::function<void()>& call, const std::string& text, int peer) {
  const auto begin = Clock::now();
  const auto error = expect_throws<DeadlockError>(call);
  expect_contains(error.what(), text);
  expect_equal(error.details().peer, peer, "peer");
  // The promise is 15 s; a machine that is busy with other things starts the two sides at different times.
  expect(Clock::now() - begin < (long_tests() ? 15s : 40s) * slowness(), "in time");
}

void synchronous_sends(ProcessGroup& world, int other) {
  const std::vector<float> out(16);
  std::vector<float> in(16);
  expect_deadlock([&] { world.send(out, other, {.synchronous = true}); },
                  "deadlock: rank 0 send(tag 0) → 1, rank 1 send(tag 0) → 0", other);
  // The messages were taken back; the link works.
  world.sendrecv(out, other, in, other, {.send_tag = 1, .recv_tag = 1});
  expect(!world.iprobe(other), "nothing is left");
  world.sendrecv(out, other, in, other, {.send_tag = 2, .recv_tag = 2});  // the other one has looked, too
}

void receives_with_crossed_tags(ProcessGroup& world, int other) {
  std::vector<float> in(16);
  const std::int64_t tag = world.rank();
  expect_deadlock([&] { world.recv(in, other, {.tag = tag}); },
                  "deadlock: rank 2 recv(tag 2) ← 3, rank 3 recv(tag 3) ← 2", other);
  world.sendrecv(in, other, in, other, {.send_tag = 1, .recv_tag = 1});
}

// Rank 4 waits long for rank 5, which computes and does not wait for it.
void a_slow_one(ProcessGroup& world, int other) {
  if (world.rank() == 4) {
    expect_equal(world.recv<int>(other), 5, "value");
    return;
  }
  std::this_thread::sleep_for(13s);
  world.send(5, other);
}

TEST(Deadlock, OfTwoIsNamedOnBothSides) {
  const int code = run_ranks(6, [](int rank, int) {
    ProcessGroup world = init();
    const int other = rank ^ 1;
    if (rank < 2)
      synchronous_sends(world, other);
    else if (rank < 4)
      receives_with_crossed_tags(world, other);
    else
      a_slow_one(world, other);
  });
  EXPECT_EQ(code, 0);
}

TEST(Deadlock, OfABarrierAndAReceiveNamesBoth) {
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    const std::string text = "deadlock: rank 0 barrier ← 1, rank 1 recv(any tag) ← 0";
    if (rank == 0)
      expect_deadlock([&] { world.barrier(); }, text, 1);
    else
      expect_deadlock([&] { world.recv<int>(0, {.tag = any_tag}); }, text, 0);
  });
  EXPECT_EQ(code, 0);
}

// Of a collective that waits for several ranks, and of two collectives.
TEST(Deadlock, OfCollectivesIsFoundAmongManyRanks) {
  const int code = run_ranks(5, [](int rank, int) {
    ProcessGroup world = init();
    ProcessGroup twins = world.split(rank < 3 ? 0 : 1);
    if (rank >= 3) {
      ProcessGroup others = twins.dup();
      expect_deadlock([&] { (rank == 3 ? twins : others).barrier(); },
                      "deadlock: rank 3 barrier ← 4, rank 4 barrier ← 3", 7 - rank);
      return (void)world.barrier();
    }
    std::vector<float> data(1 << 20);
    if (rank == 1) {
      expect_deadlock([&] { twins.recv<int>(0, {.tag = 4}); }, "rank 1 recv(tag 4) ← 0", 0);
    } else if (rank == 0) {
      expect_deadlock([&] { twins.all_reduce(data); }, "deadlock: rank 0 all_reduce ", 1);
    } else {
      expect_contains(expect_throws<AbortedError>([&] { twins.all_reduce(data); }).what(),
                      "wait for each other");
    }
    world.barrier();  // nobody leaves before all have heard of it
  });
  EXPECT_EQ(code, 0);
}

// Ranks of one collective wait for each other while they all wait for one that is late.
TEST(Deadlock, OfOneCollectiveIsNone) {
  const int code = run_ranks(8, [](int rank, int) {
    ProcessGroup world = init();
    if (rank == 5) std::this_thread::sleep_for(14s);
    world.barrier();
    std::vector<float> data(1000, 1);
    world.all_reduce(data);
    expect_equal(data[999], 8.0F, "sum");
  });
  EXPECT_EQ(code, 0);
}

// Rank 0 waits; another thread of its program, which Parley has not met, sends late what rank 1 waits for.
void help_by_a_thread(ProcessGroup& world) {
  if (world.rank() == 1) {
    expect_equal(world.recv<int>(0, {.tag = 1}), 10, "value");
    world.send(11, 0, {.tag = 2});
    return;
  }
  std::thread helper([&] {
    std::this_thread::sleep_for(13s);
    world.send(10, 1, {.tag = 1});
  });
  expect_equal(world.recv<int>(1, {.tag = 2}), 11, "value");
  helper.join();
}

// Rank 2 waits; the function at the end of its receive from rank 4 sends late what rank 3 waits for: either
// the function is called late, or (`slow`) it is running all the time.
void help_by_a_function(ProcessGroup& world, int first, bool slow) {
  const int waits = first;
  const int helped = first + 1;
  const int starts = first + 2;
  if (world.rank() == starts) {
    if (!slow) std::this_thread::sleep_for(13s);
    return world.send(5, waits);
  }
  if (world.rank() == helped) {
    expect_equal(world.recv<int>(waits, {.tag = 1}), 10, "value");
    return world.send(11, waits, {.tag = 2});
  }
  int start = 0;
  const int answer = 10;
  Work sent;
  std::atomic<bool> has_run{false};
  Work received = world.irecv(start, starts);
  received.then([&](const std::exception_ptr&) {
    if (slow) std::this_thread::sleep_for(14s);
    sent = world.isend(answer, helped, {.tag = 1});
    has_run = true;
  });
  if (slow) std::this_thread::sleep_for(1s);  // so that the background thread calls it
  expect_equal(world.recv<int>(helped, {.tag = 2}), 11, "value");
  // The answer may come before isend() has returned over there.
  await([&] { return has_run.load(); }, "the end of the function");
  sent.wait();
}

// The first rank goes on when its own timeout has passed, and then sends what the second waits for.
void help_by_a_timeout(ProcessGroup& world, int first) {
  const int other = first + 1;
  if (world.rank() == other) {
    expect_equal(world.recv<int>(first, {.tag = 1}), 10, "value");
    return;
  }
  expect_throws<TimeoutError>([&] { (void)world.recv<int>(other, {.tag = 2, .timeout = 14s}); });
  world.send(10, other, {.tag = 1});
}

TEST(Deadlock, IsNoneWhileSomebodyMayHelp) {
  const int code = run_ranks(10, [](int rank, int) {
    ProcessGroup world = init();
    if (rank < 2)
      help_by_a_thread(world);
    else if (rank < 5)
      help_by_a_function(world, 2, false);
    else if (rank < 8)
      help_by_a_function(world, 5, true);
    else
      help_by_a_timeout(world, 8);
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
