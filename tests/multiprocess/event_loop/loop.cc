#include "tests/multiprocess/event_loop/loop.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <thread>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {

using namespace std::chrono_literals;

namespace {

// Who sleeps longer has lost a wake-up: the other rank acts within 100 ms of the last step.
constexpr std::chrono::milliseconds watchdog{10'000};
// Far above what a wake-up costs, far below the background thread's next look by itself.
constexpr std::chrono::milliseconds longest_median{5};

void wait_readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  const auto limit = static_cast<int>(watchdog.count()) * slowness();
  int ready = 0;
  while ((ready = poll(&entry, 1, limit)) < 0) expect(errno == EINTR, "poll");
  expect(ready == 1, "a wake-up was lost: fd() did not turn readable");
}

}  // namespace

void Loop::run_until(const std::function<bool()>& look) {
  for (;;) {
    while (world_.progress() != 0) continue;
    if (look()) return;
    room_.in_poll = true;
    wait_readable(world_.fd());
    room_.in_poll = false;
  }
}

void Loop::step_done() {
  delays_.push_back(now() - std::chrono::nanoseconds(room_.acted_ns));
  ++room_.done;
}

void Loop::judge_delays(const char* what) {
  std::sort(delays_.begin(), delays_.end());
  const auto median = delays_[delays_.size() / 2];
  const auto p99 = delays_[(delays_.size() - 1) * 99 / 100];
  std::printf("%s: %zu steps, from the other rank's call to ours: median %.3f ms, p99 %.3f ms\n", what,
              delays_.size(), in_ms(median), in_ms(p99));
  if (long_tests()) expect(median < longest_median * slowness(), "the median wake-up");
}

void await_step(Room& room, std::int64_t step, Random& random) {
  await([&] { return room.done == step; }, "the event loop's next step");
  const std::size_t kind = random.below(16);
  if (kind > 1) await([&] { return room.in_poll.load(); }, "the event loop is in poll()");
  // At once; while the background thread still looks around; while it sleeps; when it has parked.
  const std::size_t longest_us = kind < 4 ? 1 : kind < 10 ? 1000 : kind < 15 ? 5000 : 60'000;
  std::this_thread::sleep_for(std::chrono::microseconds(random.below(longest_us)));
  room.acted_ns = now().count();
}

}  // namespace parley::testing
