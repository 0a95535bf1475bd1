// The library installs no signal handler and leaves the caller's signal mask alone.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <pthread.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

struct Disposition {
  void (*handler)(int) = nullptr;
  int flags = 0;
  bool blocked = false;
  bool operator==(const Disposition&) const = default;
};

using Dispositions = std::array<Disposition, NSIG>;

// Those that the C library keeps for itself stay as they are.
Dispositions read_dispositions() {
  sigset_t mask;
  expect(pthread_sigmask(SIG_SETMASK, nullptr, &mask) == 0, "pthread_sigmask");
  Dispositions all;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0) continue;
    all[static_cast<std::size_t>(number)] = {action.sa_handler, action.sa_flags,
                                             sigismember(&mask, number) == 1};
  }
  return all;
}

void expect_unchanged(const Dispositions& before, const char* when) {
  const Dispositions now = read_dispositions();
  for (std::size_t number = 1; number < now.size(); ++number)
    expect(now[number] == before[number], std::string(when) + ": signal " + std::to_string(number));
}

void on_usr1(int) {}

void use_everything(ProcessGroup& world, const Dispositions& before) {
  const int other = 1 - world.rank();
  std::vector<std::byte> out(std::size_t{4} << 20), in(out.size());
  Work received = world.irecv(in, other);
  Work sent = world.isend(out, other);  // the background thread runs
  expect_unchanged(before, "with operations under way");
  received.wait();
  sent.wait();
  world.barrier();
  expect_unchanged(before, "with a world");
}

TEST(Signals, HandlersAndMaskAreTheProgramsOwn) {
  const int code = run_ranks(2, [](int, int) {
    std::signal(SIGUSR1, on_usr1);
    std::signal(SIGUSR2, SIG_IGN);
    const Dispositions before = read_dispositions();
    expect(before[SIGUSR1].handler == on_usr1, "the test reads handlers");
    for (int round = 0; round < 3; ++round) {
      ProcessGroup world = init();
      expect_unchanged(before, "after init()");
      use_everything(world, before);
      destroy();
      expect_unchanged(before, "after destroy()");
    }
  });
  EXPECT_EQ(code, 0);
}

TEST(Signals, SpawnLeavesThoseOfTheCallerAlone) {
  const Dispositions before = read_dispositions();
  EXPECT_EQ(run_ranks(2, [](int, int) { init().barrier(); }), 0);
  const Dispositions after = read_dispositions();
  for (std::size_t number = 1; number < after.size(); ++number)
    EXPECT_TRUE(after[number] == before[number]) << "signal " << number;
}

}  // namespace
}  // namespace parley::testing
