// Every rank is stopped and continued at random moments while all of them talk: nothing is lost, nobody is
// taken for dead.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "tests/multiprocess/support/side_process.h"
#include "tests/multiprocess/traffic/plan.h"
#include "tests/multiprocess/traffic/receiver.h"
#include "tests/multiprocess/traffic/sender.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t stop_seed = 2718;
constexpr int ranks = 8;

struct StopRoom {
  std::array<std::atomic<pid_t>, ranks> pids{};
  std::atomic<int> joined{0};
  std::array<std::atomic<int>, ranks> stops{};  // since all have joined
  std::atomic<bool> over{false};                // no rank may be stopped any more
  std::atomic<bool> stopper_gone{false};        // and none is
};

int enough() {
  return long_tests() ? 300 : 12;
}

// Stops one or several at a time, for up to 40 ms, from before init() on.
void stop_and_continue(StopRoom& room) {
  Random random(stop_seed);
  while (!room.over) {
    std::array<bool, ranks> stopped{};
    const std::size_t most = 1 + random.below(ranks);
    for (std::size_t i = 0; i < most; ++i) {
      const std::size_t rank = random.below(ranks);
      if (room.pids[rank] == 0 || stopped[rank] || kill(room.pids[rank], SIGSTOP) != 0) continue;
      stopped[rank] = true;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(random.one_in(4) ? 40'000 : 4000)));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (!stopped[rank]) continue;
      kill(room.pids[rank], SIGCONT);
      if (room.joined == ranks) ++room.stops[rank];
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(8000)));
  }
  room.stopper_gone = true;
}

bool all_stopped_enough(const StopRoom& room) {
  for (const auto& stops : room.stops)
    if (stops < enough()) return false;
  return true;
}

void exchange(ProcessGroup& world, std::uint64_t round) {
  const PlanOptions options{.seed = stop_seed + round, .ranks = ranks, .messages = 1000};
  const auto plan = make_plan(options);
  Sender sender(world, plan, options);
  Receiver receiver(world, plan, options, Receiver::Mode::all);
  while (sender.advance()) receiver.advance();
  receiver.finish();
  sender.finish();
  world.barrier();
}

TEST(Stopped, RanksAtRandomMomentsLoseNothing) {
  const SharedPage<StopRoom> room;
  const SideProcess stopper([&] { stop_and_continue(*room); });
  const auto run_rank = [&](int rank, int) {
    room->pids[static_cast<std::size_t>(rank)] = getpid();
    ProcessGroup world = init();
    ++room->joined;
    std::uint64_t round = 0;
    while (!agree(world, all_stopped_enough(*room))) exchange(world, round++);
    // Who stops others must not meet another process with our number.
    world.barrier();
    room->over = true;
    await([&] { return room->stopper_gone.load(); }, "the end of the process that stops others");
    if (rank == 0) std::printf("%llu rounds\n", static_cast<unsigned long long>(round));
  };
  EXPECT_EQ(run_ranks(ranks, run_rank, {.timeout = long_tests() ? 1800s : 200s}), 0) << "seed " << stop_seed;
}

}  // namespace
}  // namespace parley::testing
