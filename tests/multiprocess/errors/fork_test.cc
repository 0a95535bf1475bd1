// fork() in a process that uses Parley: the child gets a clear error, the parent notices nothing.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "tests/multiprocess/support/forked_child.h"
#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

// What a forked child of a rank has of its parent's.
struct Inherited {
  ProcessGroup world;
  std::vector<Work> pending;
  Message probed;
  int other;
  Tensor shared;
};

// Everything but leaving is refused, before it touches a lock that a thread of the parent may have held.
void try_calls_of_the_group(ProcessGroup& world, int other) {
  std::vector<int> data(4);
  expect_contains(expect_throws<ForkedError>([&] { world.send(data, other); }).what(), "forked child");
  expect_throws<ForkedError>([&] { world.recv(data, other); });
  expect_throws<ForkedError>([&] { (void)world.isend(data, other); });
  expect_throws<ForkedError>([&] { (void)world.irecv(data, other); });
  expect_throws<ForkedError>([&] { world.sendrecv(data, other, data, other); });
  expect_throws<ForkedError>([&] { world.send(1, other); });
  expect_throws<ForkedError>([&] { world.recv<int>(other); });
  expect_throws<ForkedError>([&] { (void)world.probe(other); });
  expect_throws<ForkedError>([&] { (void)world.iprobe(other); });
  expect_throws<ForkedError>([&] { world.barrier(); });
  expect_throws<ForkedError>([&] { world.abort("in the child"); });
  expect_throws<ForkedError>([&] { world.acknowledge_failures(); });
  expect_throws<ForkedError>([&] { (void)world.progress(); });
  expect_throws<ForkedError>([&] { (void)world.fd(); });
  expect_throws<ForkedError>([&] { (void)world.rank(); });
  expect_throws<ForkedError>([&] { (void)world.size(); });
  expect_throws<ForkedError>([&] { (void)world.local_rank(); });
  expect_throws<ForkedError>([&] { (void)world.describe(); });
  expect_throws<ForkedError>([&] { (void)world.shared_tensor(10); });
}

void try_calls_of_operations(std::vector<Work>& works, Message& probed) {
  Work& work = works.front();
  expect_throws<ForkedError>([&] { work.wait(); });
  expect_throws<ForkedError>([&] { work.wait(std::chrono::seconds(1)); });
  expect_throws<ForkedError>([&] { (void)work.test(); });
  expect_throws<ForkedError>([&] { (void)work.cancel(); });
  expect_throws<ForkedError>([&] { work.then([](std::exception_ptr) {}); });
  expect_throws<ForkedError>([&] { work.detach(nullptr); });
  expect_throws<ForkedError>([&] { wait_all(works); });
  expect_throws<ForkedError>([&] { (void)wait_any(works); });
  expect_throws<ForkedError>([&] { (void)test_any(works); });
  int value = 0;
  expect_throws<ForkedError>([&] { probed.recv(std::span(&value, 1)); });
}

void try_calls_of_the_process() {
  expect(!is_initialized(), "no world in a child");
  expect_contains(expect_throws<ForkedError>([] { init(); }).what(), "forked child");
  expect_throws<ForkedError>([] { (void)spawn(1, [](int, int) {}); });
}

int run_child(Inherited inherited) {
  try {
    try_calls_of_the_process();
    try_calls_of_the_group(inherited.world, inherited.other);
    try_calls_of_operations(inherited.pending, inherited.probed);
    inherited.shared.fill(inherited.other);  // the parent's memory, and a page that both see
    inherited.shared = Tensor();
    destroy();  // leaves the parent's world alone
    try_calls_of_the_process();
    inherited.world = ProcessGroup();
    inherited.pending.clear();
    try_calls_of_the_process();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "forked child: %s\n", error.what());
    return 1;
  }
}

// Keeps the engine's lock busy from another thread, so that a fork is likely to find it taken.
class Busy {
 public:
  explicit Busy(ProcessGroup& world)
      : thread_([this, &world] {
          while (!stop_) {
            (void)world.iprobe(any_source, {.tag = 1000});
            busy_ = true;
          }
        }) {
    while (!busy_) std::this_thread::yield();
  }
  ~Busy() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> busy_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST(Fork, AChildGetsForkedErrorAndTheParentGoesOn) {
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    const int other = 1 - rank;
    const bool is_shared = world.describe().find(": shm") != std::string::npos;
    std::vector<int> out(200'000, rank), in(200'000);
    for (int round = 0; round < 20; ++round) {
      int late = 0;
      std::vector<Work> pending;
      pending.push_back(world.irecv(late, other, {.tag = 9}));
      world.send(round, other, {.tag = 10});
      Message probed = world.probe(other, {.tag = 10});
      Tensor shared = world.shared_tensor(10);
      shared.fill(-1);
      {
        const Busy busy(world);
        const pid_t child = fork();
        if (child == 0)
          _exit(
              run_child({std::move(world), std::move(pending), std::move(probed), other, std::move(shared)}));
        for (int i = 0; i < 10; ++i) world.sendrecv(out, other, in, other);
        expect_equal(in.back(), other, "received while the child lives");
        expect_child_passes(child);
      }
      // Where no memory can be shared, it is the child's copy alone.
      expect_equal(shared.select(0, 9).item(), is_shared ? 1.0 * other : -1.0, "what the child wrote");
      int held = -1;
      probed.recv(std::span(&held, 1));
      expect_equal(held, round, "received from the message that was probed before the fork");
      world.send(round, other, {.tag = 9});
      pending.front().wait();
      expect_equal(late, round, "received by the operation that was pending at the fork");
    }
  });
  EXPECT_EQ(code, 0);
}

// What a child inherits is a world that lives. One that was left before the fork is no obstacle.
TEST(Fork, AChildOfAProcessThatHasLeftMayJoin) {
  const int code = run_ranks(1, [](int, int) {
    init().barrier();
    const pid_t child = fork();
    if (child == 0) {
      forget_environment();
      bool works = false;
      try {
        ProcessGroup world = init();
        world.barrier();
        works = is_initialized();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "forked child: %s\n", error.what());
      }
      _exit(works ? 0 : 1);
    }
    expect_child_passes(child);
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
