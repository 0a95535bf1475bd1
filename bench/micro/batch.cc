// What 64 messages of 8 B cost in one batch, and in 64 calls each: of send() and recv(), which return when
// their message has left or come, and of isend() and irecv(), whose messages may leave together, too. Both
// ranks are driven by one thread, first the receives are posted, and the time is that of both sides. In each
// round all three take turns, another one first each time; a turn is timed after the same was done untimed,
// for a program does one of them again and again.
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

constexpr std::size_t count = 64;

class Exchange {
 public:
  explicit Exchange(bench::LinkKind kind) : ranks_(bench::linked_ranks(kind)) {
    for (std::size_t i = 0; i < count; ++i) {
      out_tensors_.emplace_back(std::span(&out_[i], 1));
      in_tensors_.emplace_back(std::span(&in_[i], 1));
      sends_.push_back({.op = P2POp::isend, .tensor = out_tensors_[i], .peer = 1});
      receives_.push_back({.op = P2POp::irecv, .tensor = in_tensors_[i], .peer = 0});
    }
  }

  void in_one_batch() {
    std::vector<Work> receives = receiver().batch_isend_irecv(receives_);
    std::vector<Work> sends = sender().batch_isend_irecv(sends_);
    finish(sends, receives);
  }
  void in_asynchronous_calls() {
    std::vector<Work> receives, sends;
    receives.reserve(count);
    sends.reserve(count);
    for (const Tensor& tensor : in_tensors_) receives.push_back(receiver().irecv(tensor, 0));
    for (const Tensor& tensor : out_tensors_) sends.push_back(sender().isend(tensor, 1));
    finish(sends, receives);
  }
  void in_blocking_calls() {
    // There is room for all in a ring.
    for (const Tensor& tensor : out_tensors_) sender().send(tensor, 1);
    for (const Tensor& tensor : in_tensors_) receiver().recv(tensor, 0);
  }
  // Brings the credit back.
  void answer() {
    receiver().send(1, 0);
    (void)sender().recv<int>(1);
  }

 private:
  // What finds no room leaves when the other rank has read.
  void finish(std::span<Work> sends, std::span<Work> receives) {
    while (!receives.back().test()) sender().progress();
    wait_all(sends);
    wait_all(receives);
  }

  ProcessGroup& sender() { return ranks_[0].group; }
  ProcessGroup& receiver() { return ranks_[1].group; }

  std::array<bench::LinkedRank, 2> ranks_;
  std::array<std::int64_t, count> out_{}, in_{};
  std::vector<Tensor> out_tensors_, in_tensors_;
  std::vector<P2POp> sends_, receives_;
};

void batch(benchmark::State& state, bench::LinkKind kind) {
  Exchange exchange(kind);
  constexpr std::array<void (Exchange::*)(), 3> ways{&Exchange::in_one_batch, &Exchange::in_blocking_calls,
                                                     &Exchange::in_asynchronous_calls};
  std::array<std::vector<double>, ways.size()> us;
  bench::Stopwatch watch;
  std::size_t first = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const std::size_t way = (first + i) % ways.size();
      double last_us = 0;
      for (int time = 0; time < 2; ++time) {
        watch.lap_us();
        (exchange.*ways[way])();
        last_us = watch.lap_us();
        exchange.answer();
      }
      us[way].push_back(last_us);
    }
    ++first;
  }
  // Medians: what interrupts a round counts no more than another one.
  const double batched = bench::median(us[0]), blocking = bench::median(us[1]);
  const double asynchronous = bench::median(us[2]);
  state.counters["batch_us"] = batched;
  state.counters["send_us"] = blocking;
  state.counters["isend_us"] = asynchronous;
  state.counters["to_send"] = batched / blocking;
  state.counters["to_isend"] = batched / asynchronous;
}

BENCHMARK_CAPTURE(batch, shm, bench::LinkKind::shm);
BENCHMARK_CAPTURE(batch, tcp, bench::LinkKind::tcp);

}  // namespace
