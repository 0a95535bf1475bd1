#include "bench/scale/stages.h"

#include <parley/store.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/scale/poll.h"
#include "bench/statistics.h"
#include "bench/stopwatch.h"

namespace parley::bench::scale {
namespace {

using std::chrono::milliseconds;

// After init() the library's own thread looks around for a moment before it sleeps.
constexpr milliseconds time_to_settle(300);
constexpr double stage_us = 200'000;
// After so many collectives the ranks of a group share memory, if they can.
constexpr int calls_to_meet = 10;
constexpr int groups_made = 6;
constexpr int call_batches = 5;
constexpr std::size_t window = 64;

void measure_use(ProcessGroup& world, Board& board) {
  board.meet();
  std::this_thread::sleep_for(time_to_settle);
  board.note(world.rank()).use = own_use();
  board.meet();  // who leaves would be heard by the others
}

void measure_groups(ProcessGroup& world, Board& board) {
  std::vector<int> all(static_cast<std::size_t>(world.size()));
  std::iota(all.begin(), all.end(), 0);
  std::vector<ProcessGroup> groups;
  std::vector<double> times;
  world.barrier();
  Stopwatch watch;
  for (int i = 0; i < groups_made; ++i) {
    groups.push_back(world.new_group(all));
    times.push_back(watch.lap_us());
  }
  board.tell_time(world.rank(), 0, median(times));
  world.barrier();
}

// Each rank by a connection of its own, one request after the other, all at once: how many the host of the
// store answers.
void measure_store(ProcessGroup& world, Board& board) {
  TcpStoreOptions options;
  options.host = std::getenv("MASTER_ADDR");
  options.port = static_cast<std::uint16_t>(std::atoi(std::getenv("MASTER_PORT")));
  const auto store = connect_tcp_store(options);
  const std::string key = "scale/" + std::to_string(world.rank());
  world.barrier();
  const Stopwatch watch;
  std::size_t operations = 0;
  for (; watch.elapsed_us() < stage_us; operations += 2) {
    store->set_string(key, "value");
    (void)store->get_string(key);
  }
  board.note(world.rank()).rate = static_cast<double>(operations) * 1e6 / watch.elapsed_us();
}

// Windows of 8 B from the even to the odd ranks, as message-rate has them. The sender says in its last window
// that it is the last.
class Windows {
 public:
  Windows(ProcessGroup& world, int partner) : world_(world), partner_(partner) {}

  void send(bool is_last) {
    words_.fill(is_last ? 1 : 0);
    for (std::int64_t& word : words_) works_.push_back(world_.isend(word, partner_));
    finish();
    (void)world_.recv<std::uint8_t>(partner_);
  }
  // Whether it was the last.
  bool receive() {
    for (std::int64_t& word : words_) works_.push_back(world_.irecv(word, partner_));
    finish();
    world_.send(std::uint8_t{1}, partner_);
    return words_.front() != 0;
  }

 private:
  void finish() {
    wait_all(works_);
    works_.clear();
  }

  ProcessGroup& world_;
  int partner_;
  std::array<std::int64_t, window> words_{};
  std::vector<Work> works_;
};

void measure_rate(ProcessGroup& world, Board& board) {
  const int partner = world.rank() ^ 1;
  if (partner >= world.size()) return;
  Windows windows(world, partner);
  if (world.rank() % 2 == 1) {
    while (!windows.receive()) {
    }
    return;
  }
  windows.send(false);  // links
  const Stopwatch watch;
  std::size_t sent = 0;
  bool is_last = false;
  while (!is_last) {
    is_last = watch.elapsed_us() >= stage_us;
    windows.send(is_last);
    sent += window;
  }
  board.note(world.rank()).rate = static_cast<double>(sent) * 1e6 / watch.elapsed_us();
}

// The median of call_batches; rank 0 says how many calls a batch has.
template <typename Call>
void measure_calls(ProcessGroup& world, Board& board, Call&& call) {
  for (int i = 0; i < calls_to_meet; ++i) call();
  Stopwatch watch;
  for (int i = 0; i < calls_to_meet; ++i) call();
  const double trial_us = watch.lap_us() / calls_to_meet;
  std::int64_t calls =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(stage_us / call_batches / trial_us), 4, 100'000);
  world.broadcast(std::span<std::int64_t>(&calls, 1), 0);
  std::vector<double> times;
  for (int batch = 0; batch < call_batches; ++batch) {
    watch.lap_us();
    for (std::int64_t i = 0; i < calls; ++i) call();
    times.push_back(watch.lap_us() / static_cast<double>(calls));
  }
  board.tell_time(world.rank(), 0, median(times));
}

void measure_all_reduce(ProcessGroup& world, Board& board) {
  std::array<float, 2> sums{};
  measure_calls(world, board, [&] {
    sums = {1, 2};
    world.all_reduce(sums);
  });
  const auto ranks = static_cast<float>(world.size());
  if (sums != std::array<float, 2>{ranks, 2 * ranks}) throw std::runtime_error("all_reduce: a sum is wrong");
}

}  // namespace

void run_stage(Stage stage, ProcessGroup& world, Board& board) {
  switch (stage) {
    case Stage::start: break;
    case Stage::groups: measure_groups(world, board); break;
    case Stage::store: measure_store(world, board); break;
    case Stage::memory:
    case Stage::linked: measure_use(world, board); break;
    case Stage::rate: measure_rate(world, board); break;
    case Stage::barrier: measure_calls(world, board, [&] { world.barrier(); }); break;
    case Stage::all_reduce: measure_all_reduce(world, board); break;
    case Stage::poll: measure_polls(world, board); break;
  }
}

}  // namespace parley::bench::scale
