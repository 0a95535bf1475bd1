#include "bench/core_watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <fstream>
#include <thread>

#include "bench/cores.h"

namespace parley::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// The machine may be busy with other things: what must show at some time has this long to do so.
constexpr auto patience = 30s;

bool kernel_keeps_account() {
  return std::ifstream("/proc/thread-self/schedstat").good();
}

TEST(CoreWatch, TellsWhereTheKernelDoes) {
  EXPECT_EQ(CoreWatch().share().has_value(), kernel_keeps_account());
}

// Spins for 20 ms and tells its share.
double share_of_a_busy_stretch() {
  const CoreWatch watch;
  const auto end = Clock::now() + 20ms;
  while (Clock::now() < end) continue;
  return watch.share().value();
}

// A busy process on one core, ended with the object.
class Rival {
 public:
  explicit Rival(int core) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin_to(core);
    for (volatile bool forever = true; forever;) continue;
  }
  ~Rival() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Rival(const Rival&) = delete;
  Rival& operator=(const Rival&) = delete;

 private:
  pid_t pid_;
};

TEST(CoreWatch, ASecondBusyProcessOnTheCoreShows) {
  if (!kernel_keeps_account()) return;
  const int core = usable_cores().front();
  const Rival rival(core);
  double least = 1;
  std::thread([&] {
    pin_to(core);
    const auto limit = Clock::now() + patience;
    while (least > 0.9 && Clock::now() < limit) least = std::min(least, share_of_a_busy_stretch());
  }).join();
  EXPECT_LE(least, 0.9);
}

double processor_ms(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// There comes a stretch of which the other thread had a quarter and nobody else had anything; an account that
// held the thread against the machine could not come near 1 in it.
TEST(CoreWatch, ABusyThreadOfTheSameProcessDoesNotShow) {
  if (!kernel_keeps_account()) return;
  const int core = usable_cores().front();
  std::atomic<bool> done = false;
  std::thread helper([&] {
    pin_to(core);
    while (!done) continue;
  });
  double most = 0;
  std::thread([&] {
    pin_to(core);
    const auto limit = Clock::now() + patience;
    while (most < 0.9 && Clock::now() < limit) {
      const double before_ms = processor_ms(CLOCK_PROCESS_CPUTIME_ID) - processor_ms(CLOCK_THREAD_CPUTIME_ID);
      const double share = share_of_a_busy_stretch();
      const double after_ms = processor_ms(CLOCK_PROCESS_CPUTIME_ID) - processor_ms(CLOCK_THREAD_CPUTIME_ID);
      if (after_ms - before_ms > 5) most = std::max(most, share);
    }
  }).join();
  done = true;
  helper.join();
  EXPECT_GE(most, 0.9);
}

TEST(CoreWatch, SleepingIsNotWaitingForACore) {
  double most = 0;
  const auto limit = Clock::now() + patience;
  while (most < 0.9 && Clock::now() < limit) {
    const CoreWatch watch;
    std::this_thread::sleep_for(20ms);
    most = std::max(most, watch.share().value_or(1));
  }
  EXPECT_GE(most, 0.9);
}

}  // namespace
}  // namespace parley::bench
