// What 8 B cost from isend() and irecv() to wait_all(), without the way between two cores: both ranks of a
// link over shared memory are driven by one thread, so that no cache line changes cores and each side is
// timed by itself. Two cores that share a cache come near it.
#include <benchmark/benchmark.h>
#include <parley/parley.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/micro/linked_ranks.h"
#include "bench/statistics.h"
#include "bench/stopwatch.h"

namespace {

using namespace parley;

constexpr std::size_t window = 48;  // fits into a ring, for nobody reads while it is sent

[[gnu::noinline]] void send_window(ProcessGroup& group, std::span<Work> works, const Tensor& tensor) {
  for (Work& work : works) work = group.isend(tensor, 1);
  wait_all(works);
}

[[gnu::noinline]] void post_window(ProcessGroup& group, std::span<Work> works, const Tensor& tensor) {
  for (Work& work : works) work = group.irecv(tensor, 0);
}

[[gnu::noinline]] void finish_window(std::span<Work> works) {
  wait_all(works);
}

void windows(benchmark::State& state) {
  auto ranks = bench::linked_ranks(bench::LinkKind::shm);
  std::array<Work, window> sends, receives;
  std::int64_t out = 1, in = 0;
  const Tensor out_tensor(std::span(&out, 1)), in_tensor(std::span(&in, 1));
  std::vector<double> send_us, post_us, finish_us;
  bench::Stopwatch watch;
  for (auto _ : state) {
    watch.lap_us();
    post_window(ranks[1].group, receives, in_tensor);
    post_us.push_back(watch.lap_us());
    send_window(ranks[0].group, sends, out_tensor);
    send_us.push_back(watch.lap_us());
    finish_window(receives);
    finish_us.push_back(watch.lap_us());
    ranks[1].group.send(out_tensor, 0);  // an answer, which brings the credit back
    ranks[0].group.recv(in_tensor, 1);
  }
  // Medians: what interrupts a window counts no more than another one.
  const auto per_message = [](const std::vector<double>& us) { return bench::median(us) * 1000 / window; };
  state.counters["isend_ns"] = per_message(send_us);
  state.counters["irecv_ns"] = per_message(post_us);
  state.counters["finish_ns"] = per_message(finish_us);
  state.counters["receiver_ns"] = per_message(post_us) + per_message(finish_us);
}

BENCHMARK(windows)->Name("message_window");

}  // namespace
