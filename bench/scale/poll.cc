#include "bench/scale/poll.h"

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "bench/statistics.h"
#include "bench/stopwatch.h"

namespace parley::bench::scale {
namespace {

constexpr int looks_at_once = 200;
constexpr int look_batches = 200;
constexpr int hello_tag = 1;
constexpr int end_tag = 2;
// Who has got a message waits for the next one awake, for a moment.
constexpr std::chrono::milliseconds time_to_fall_asleep(200);
constexpr std::chrono::milliseconds pause_between_dials(3);

double look_ns(Work& pending) {
  std::this_thread::sleep_for(time_to_fall_asleep);
  std::vector<double> times;
  Stopwatch watch;
  for (int batch = 0; batch < look_batches; ++batch) {
    for (int i = 0; i < looks_at_once; ++i) (void)pending.test();
    times.push_back(watch.lap_us() * 1e3 / looks_at_once);
  }
  return median(times);
}

// A receive by name links, too. One after the other: of too many at once some are turned away, and come
// again.
void await_rank_0(ProcessGroup& world) {
  std::this_thread::sleep_for(world.rank() * pause_between_dials);
  (void)world.recv<std::uint8_t>(0, {.tag = hello_tag});
}

void be_silent(ProcessGroup& world, const Board& board) {
  if (world.rank() == 1) await_rank_0(world);
  board.meet();
  if (world.rank() != 1) await_rank_0(world);
  board.meet();
  (void)world.recv<std::uint8_t>(0, {.tag = end_tag});
  if (world.rank() == 1) world.send(std::uint8_t{1}, 0, {.tag = end_tag});
}

}  // namespace

void measure_polls(ProcessGroup& world, const Board& board) {
  if (world.rank() != 0) return be_silent(world, board);
  const auto hello = std::uint8_t{1};
  std::uint8_t answer = 0;
  Work pending = world.irecv(answer, 1, {.tag = end_tag});
  world.send(hello, 1, {.tag = hello_tag});
  board.tell_time(0, 0, look_ns(pending));
  board.meet();
  for (int rank = 2; rank < world.size(); ++rank) world.send(hello, rank, {.tag = hello_tag});
  board.meet();
  board.tell_time(0, 1, look_ns(pending));
  for (int rank = 1; rank < world.size(); ++rank) world.send(hello, rank, {.tag = end_tag});
  pending.wait();
}

}  // namespace parley::bench::scale
