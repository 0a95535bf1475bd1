#include "bench/relay.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace parley::bench {
namespace {

// What a run's process does, on its side of the relay; its exit code.
template <typename Life>
pid_t start(Relay& relay, std::size_t run, const Life& life) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  relay.join(run);
  relay.start(0);
  ::_exit(life() ? 0 : 1);
}

bool ended_well(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Memory that the runs share. Steps of both, in the order that they were made.
class SharedSteps {
 public:
  SharedSteps()
      : place_(::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                      -1, 0)),
        steps_(new (place_) std::atomic<int>(0)) {}
  ~SharedSteps() { ::munmap(place_, sizeof(std::atomic<int>)); }
  SharedSteps(const SharedSteps&) = delete;
  SharedSteps& operator=(const SharedSteps&) = delete;

  int next() { return steps_->fetch_add(1); }

 private:
  void* place_;
  std::atomic<int>* steps_;
};

TEST(Relay, RunsTakeTurns) {
  constexpr int turns = 100;
  SharedSteps steps;
  pid_t runs[2];
  {
    Relay relay(1);
    for (int run = 0; run < 2; ++run) {
      runs[run] = start(relay, static_cast<std::size_t>(run), [&] {
        for (int turn = 0; turn < turns; ++turn) {
          if (steps.next() != 2 * turn + run) return false;
          relay.hand_over(0);
        }
        return true;
      });
    }
  }
  EXPECT_TRUE(ended_well(runs[0]));
  EXPECT_TRUE(ended_well(runs[1]));
}

TEST(Relay, ARunThatHasEndedIsWaitedForNoLonger) {
  for (const std::size_t short_run : {0U, 1U}) {
    pid_t runs[2];
    {
      Relay relay(1);
      for (std::size_t run = 0; run < 2; ++run) {
        runs[run] = start(relay, run, [&] {
          for (int turn = 0; turn < (run == short_run ? 1 : 50); ++turn) relay.hand_over(0);
          return true;
        });
      }
    }
    EXPECT_TRUE(ended_well(runs[0]));
    EXPECT_TRUE(ended_well(runs[1]));
  }
}

}  // namespace
}  // namespace parley::bench
