// With a core for each rank small messages over shared memory ask nothing of the kernel.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/budget/kernel_calls.h"
#include "tests/budget/window.h"
#include "tests/multiprocess/support/ranks.h"
#include "transport/base/cpu_quota.h"
#include "transport/base/host.h"

namespace parley::testing {
namespace {

constexpr int warm_up_rounds = 2000;  // rings and pools have grown
constexpr int turns = 1000;

const RanksOptions over_shared_memory{.timeout = std::chrono::seconds(300),
                                      .environment = {{"PARLEY_TRANSPORTS", "shm"}}};

bool has_two_whole_cores() {
  const std::vector<base::CpuQuota> quotas = base::cpu_quotas();
  return base::usable_cores().size() >= 2 &&
         std::all_of(quotas.begin(), quotas.end(),
                     [](const base::CpuQuota& quota) { return quota.millicores >= 2000; });
}

// Else the ranks give a core away to each other, message by message. Of the test's process: a rank has one.
const bool two_ranks_have_a_core_each = has_two_whole_cores();

// Of two ranks. The rounds run in any case, and show that nothing hangs.
int run_two_ranks(const std::function<void(int rank, int count)>& rank_main) {
  if (!two_ranks_have_a_core_each)
    std::puts(
        "NOT JUDGED: two ranks have no whole core each, and hand one over by system calls, whose number "
        "this test therefore leaves open");
  return run_ranks(2, rank_main, over_shared_memory);
}

// As each rank of a program that measures is: beside other work both may be put on one core.
void pin_to_a_core_of_its_own(int rank) {
  const std::vector<std::uint16_t> cores = base::usable_cores();
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(cores[static_cast<std::size_t>(rank) % cores.size()], &own);
  expect(sched_setaffinity(0, sizeof own, &own) == 0, "sched_setaffinity");
}

// Rank 0 and 1 call it with the same round, of which some make a turn: 64 messages or so. A message that
// costs a call costs it in every turn. In some turns there are calls that no message costs: every 100 us or
// so a rank looks at its sockets, whose epoll_wait is the price of time and not of messages; while the other
// rank does not run, it yields, and sleeps at last; now and then the progress thread has taken the lock.
template <typename Round>
void expect_no_kernel_calls(int rounds_per_turn, const Round& round) {
  for (int i = 0; i < warm_up_rounds; ++i) round();
  KernelCalls::watch();
  int turns_without = 0;
  for (int turn = 0; turn < turns; ++turn) {
    const std::uint64_t before = KernelCalls::count();
    for (int i = 0; i < rounds_per_turn; ++i) round();
    if (KernelCalls::count() == before) ++turns_without;
  }
  const std::string calls = KernelCalls::describe();
  if (!two_ranks_have_a_core_each) return;
  expect(2 * turns_without >= turns, std::to_string(turns_without) + " of " + std::to_string(turns) +
                                         " turns without a system call; by number: " + calls);
}

// Many microseconds of anything else, no system call.
void compute() {
  volatile int sum = 0;
  for (int i = 0; i < 2000; ++i) sum = sum + i;
}

TEST(KernelBudget, EveryCallIsCounted) {
  const int code = run_ranks(1, [](int, int) {
    const int event = eventfd(0, 0), set = epoll_create1(0);
    KernelCalls::watch();
    std::uint64_t before = KernelCalls::count();
    const auto expect_one = [&before](int number) {
      expect_equal(KernelCalls::count() - before, std::uint64_t{1}, "calls");
      expect_equal(KernelCalls::count(number), std::uint64_t{1}, "calls of number " + std::to_string(number));
      before = KernelCalls::count();
    };
    eventfd_write(event, 1);
    expect_one(SYS_write);
    sched_yield();
    expect_one(SYS_sched_yield);
    syscall(SYS_membarrier, 0, 0, 0);
    expect_one(SYS_membarrier);
    epoll_event ready{};
    epoll_wait(set, &ready, 1, 0);
#ifdef SYS_epoll_wait
    expect_one(SYS_epoll_wait);
#else
    expect_one(SYS_epoll_pwait);
#endif
    compute();
    expect_equal(KernelCalls::count() - before, std::uint64_t{0}, "calls");
  });
  EXPECT_EQ(code, 0);
}

TEST(KernelBudget, ABlockingPingPongMakesNone) {
  const int code = run_two_ranks([](int rank, int) {
    pin_to_a_core_of_its_own(rank);
    ProcessGroup world = init();
    std::int64_t value = 0;
    const std::span<std::int64_t> view(&value, 1);
    expect_no_kernel_calls(32, [&] {
      if (rank == 0) world.send(view, 1);
      world.recv(view, 1 - rank);
      if (rank == 1) world.send(view, 0);
    });
  });
  EXPECT_EQ(code, 0);
}

TEST(KernelBudget, AWindowOfMessagesMakesNone) {
  const int code = run_two_ranks([](int rank, int) {
    pin_to_a_core_of_its_own(rank);
    ProcessGroup world = init();
    Window window;
    expect_no_kernel_calls(1, [&] { window.exchange(world); });
  });
  EXPECT_EQ(code, 0);
}

TEST(KernelBudget, SendComputeWaitMakesNone) {
  const int code = run_two_ranks([](int rank, int) {
    pin_to_a_core_of_its_own(rank);
    ProcessGroup world = init();
    std::int64_t out = 0, in = 0;
    // Few: each takes a microsecond or two, and some five on a machine that is not alone on its host. Many
    // would last until it is time to look at the sockets, as waits do for a rank whose core is taken away.
    expect_no_kernel_calls(2, [&] {
      Work receive = world.irecv(std::span(&in, 1), 1 - rank);
      Work send = world.isend(std::span(&out, 1), 1 - rank);
      compute();
      send.wait();
      receive.wait();
    });
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
