#pragma once

#include <parley/process_group.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {

// Full counts take minutes.
inline RanksOptions loop_options() {
  return {.timeout = std::chrono::seconds(long_tests() ? 900 : 60)};
}

// What the rank in the event loop and the one that writes to it tell each other without Parley.
struct Room {
  std::atomic<bool> in_poll{false};       // the loop is in poll(), or about to be
  std::atomic<std::int64_t> done{0};      // steps the loop has got through
  std::atomic<std::int64_t> acted_ns{0};  // when the other rank last acted
};

// An event loop as a user would write it: poll(fd()), progress() until it returns 0, look. Nothing else of
// the loop's thread makes progress.
class Loop {
 public:
  Loop(ProcessGroup& world, Room& room) : world_(world), room_(room) {}

  // Turns until `look()` is true. Throws when nothing wakes poll() for a long time.
  void run_until(const std::function<bool()>& look);
  // Tells the other rank, and notes how long it took since that rank acted.
  void step_done();

  // Prints the times; with --long the median counts.
  void judge_delays(const char* what);

 private:
  ProcessGroup& world_;
  Room& room_;
  std::vector<std::chrono::nanoseconds> delays_;
};

// The other rank's side: waits until the loop has got through `step` steps and is in poll() (mostly; now and
// then not), and then a random while.
void await_step(Room& room, std::int64_t step, Random& random);

}  // namespace parley::testing
