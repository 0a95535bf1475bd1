// What it costs to hand something to another thread and back, by spinning and by sleeping; and what a
// recycled object costs. These set the library's idle policy.
#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "transport/base/deadline.h"
#include "transport/base/parker.h"
#include "transport/base/slab_pool.h"
#include "transport/base/spin.h"

namespace {

using parley::base::Deadline;
using parley::base::Parker;

// Where the ball is: with the benchmark's thread, with its partner, or nowhere because the game is over.
constexpr std::uint32_t mine = 0;
constexpr std::uint32_t theirs = 1;
constexpr std::uint32_t over = 2;

void spin_round_trip(benchmark::State& state) {
  alignas(64) std::atomic<std::uint32_t> ball{mine};
  // Acquire and release as a hand-over of data needs them.
  std::thread partner([&] {
    for (;;) {
      const std::uint32_t place = ball.load(std::memory_order_acquire);
      if (place == over) return;
      if (place == theirs) ball.store(mine, std::memory_order_release);
      parley::base::cpu_relax();
    }
  });
  for (auto _ : state) {
    ball.store(theirs, std::memory_order_release);
    while (ball.load(std::memory_order_acquire) != mine) parley::base::cpu_relax();
  }
  ball.store(over, std::memory_order_release);
  partner.join();
}

void park_round_trip(benchmark::State& state) {
  std::array<Parker, 2> parkers;
  std::atomic<bool> stopping{false};
  std::thread partner([&] {
    for (;;) {
      parkers[1].park(Deadline::never());
      // relaxed: unpark() to park() orders it.
      if (stopping.load(std::memory_order_relaxed)) return;
      parkers[0].unpark();
    }
  });
  for (auto _ : state) {
    parkers[1].unpark();
    parkers[0].park(Deadline::never());
  }
  stopping.store(true, std::memory_order_relaxed);
  parkers[1].unpark();
  partner.join();
}

struct Request {
  std::array<std::uint64_t, 32> fields{};
};

void recycle_from_pool(benchmark::State& state) {
  parley::base::SlabPool<Request> pool;
  for (auto _ : state) {
    Request* request = pool.create();
    benchmark::DoNotOptimize(request);
    pool.destroy(request);
  }
}

void allocate_from_heap(benchmark::State& state) {
  for (auto _ : state) {
    auto request = std::make_unique<Request>();
    benchmark::DoNotOptimize(request.get());
  }
}

BENCHMARK(spin_round_trip)->UseRealTime();
BENCHMARK(park_round_trip)->UseRealTime();
BENCHMARK(recycle_from_pool);
BENCHMARK(allocate_from_heap);

}  // namespace
