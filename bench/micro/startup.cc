// What it takes to find each other: init() and new_group() of 2 to 128 processes of one host, and the memory
// that each of them has then. Processes are forked for each iteration; the time of the slowest counts, from
// the moment at which all are there.
#include <benchmark/benchmark.h>
#include <parley/launch.h>
#include <parley/parley.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <fstream>
#include <functional>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "bench/stopwatch.h"

namespace {

using namespace parley;

constexpr int most_ranks = 128;

struct Figures {
  double seconds = 0;
  double memory_bytes = 0;
};

// What the processes tell the one that forked them. Each writes its own figures; all read `arrived`.
struct Told {
  std::atomic<int> arrived{0};
  std::array<Figures, most_ranks> figures;
};

class SharedTold {
 public:
  SharedTold()
      : memory_(::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ != MAP_FAILED) told_ = new (memory_) Told();
  }
  ~SharedTold() {
    if (told_ != nullptr) ::munmap(memory_, sizeof(Told));
  }
  SharedTold(const SharedTold&) = delete;
  SharedTold& operator=(const SharedTold&) = delete;
  [[nodiscard]] Told* get() const noexcept { return told_; }

 private:
  void* memory_;
  Told* told_ = nullptr;
};

// Of this process; what several share counts for each in proportion. Linux: proc(5), smaps_rollup.
double memory_bytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;)
    if (word == "Pss:") {
      double kib = 0;
      file >> kib;
      return kib * 1024;
    }
  return 0;
}

// Returns when all have come; they may be more than there are cores.
void await_all(std::atomic<int>& arrived, int count) {
  // relaxed: it orders nothing, it only says when to begin.
  arrived.fetch_add(1, std::memory_order_relaxed);
  while (arrived.load(std::memory_order_relaxed) < count) ::sched_yield();
}

// `measure` runs in each process.
void in_processes(benchmark::State& state, const std::function<Figures()>& measure) {
  const int count = static_cast<int>(state.range(0));
  double memory = 0;
  for (auto _ : state) {
    const SharedTold shared;
    Told* const told = shared.get();
    if (told == nullptr) return state.SkipWithError("no shared memory");
    const int code = spawn(count, [&](int rank, int ranks) {
      await_all(told->arrived, ranks);
      told->figures[static_cast<std::size_t>(rank)] = measure();
    });
    if (code != 0) return state.SkipWithError("a process has failed");
    double seconds = 0;
    for (const Figures& figures : std::span(told->figures).first(static_cast<std::size_t>(count))) {
      seconds = std::max(seconds, figures.seconds);
      memory += figures.memory_bytes;
    }
    state.SetIterationTime(seconds);
  }
  state.counters["memory_per_rank"] =
      benchmark::Counter(memory / count, benchmark::Counter::kAvgIterations, benchmark::Counter::kIs1024);
}

void initialise(benchmark::State& state) {
  in_processes(state, [] {
    Figures figures;
    const bench::Stopwatch watch;
    ProcessGroup world = init();
    figures.seconds = watch.elapsed_us() / 1e6;
    world.barrier();
    figures.memory_bytes = memory_bytes();
    world.barrier();
    return figures;
  });
}

void make_group(benchmark::State& state) {
  in_processes(state, [] {
    Figures figures;
    ProcessGroup world = init();
    world.barrier();
    std::vector<int> everyone(static_cast<std::size_t>(world.size()));
    std::iota(everyone.begin(), everyone.end(), 0);
    const bench::Stopwatch watch;
    ProcessGroup group = world.new_group(everyone);
    figures.seconds = watch.elapsed_us() / 1e6;
    group.barrier();
    figures.memory_bytes = memory_bytes();
    group.barrier();
    return figures;
  });
}

void of_ranks(benchmark::internal::Benchmark* measured) {
  measured->ArgName("ranks")
      ->RangeMultiplier(4)
      ->Range(2, most_ranks)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

BENCHMARK(initialise)->Name("init")->Apply(of_ranks)->Iterations(5);
BENCHMARK(make_group)->Name("new_group")->Apply(of_ranks)->Iterations(5);

}  // namespace
