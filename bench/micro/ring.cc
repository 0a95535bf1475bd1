// The ring of the shared-memory transport between two threads on two cores, beside the least that could carry
// the same 8 bytes: one cache line with a flag. Where the cores are drifts (README): take both from one run,
//   parley-micro --benchmark_filter='cell|ring' --benchmark_repetitions=21
//   --benchmark_enable_random_interleaving=true
#include <benchmark/benchmark.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <thread>
#include <vector>

#include "bench/cores.h"
#include "transport/base/spin.h"
#include "transport/shm/ring_reader.h"
#include "transport/shm/ring_writer.h"

namespace {

using namespace parley::transport::shm;
using parley::base::cpu_relax;
using parley::transport::PacketHeader;

constexpr std::uint64_t over = 0;  // the message that ends a run; others are not 0

// Waits for the other core; gives this one away now and then, in case the other thread has lost its own.
void wait_a_little() {
  thread_local std::uint32_t polls = 0;
  if (++polls % 4096 == 0)
    std::this_thread::yield();
  else
    cpu_relax();
}

// The calling thread on one core, until destroyed.
class OnCore {
 public:
  explicit OnCore(int core) {
    CPU_ZERO(&before_);
    ::sched_getaffinity(0, sizeof(before_), &before_);
    parley::bench::pin_to(core);
  }
  OnCore(const OnCore&) = delete;
  OnCore& operator=(const OnCore&) = delete;
  ~OnCore() { ::sched_setaffinity(0, sizeof(before_), &before_); }

 private:
  cpu_set_t before_;
};

// One direction: a cache line, its number beside the message.
class BareCell {
 public:
  explicit BareCell(RingShape) {}
  void send(std::uint64_t message) {
    std::memcpy(line_.bytes.data(), &message, sizeof(message));
    line_.number.store(++sent_, std::memory_order_release);
  }
  std::uint64_t receive() {
    ++received_;
    while (line_.number.load(std::memory_order_acquire) != received_) wait_a_little();
    std::uint64_t message;
    std::memcpy(&message, line_.bytes.data(), sizeof(message));
    return message;
  }

 private:
  struct alignas(128) Line {
    std::atomic<std::uint32_t> number{0};
    std::array<std::byte, 56> bytes{};
  };
  Line line_;
  alignas(128) std::uint32_t sent_ = 0;
  alignas(128) std::uint32_t received_ = 0;
};

// One direction: a ring, its reader as a link would use it.
class RingLane {
 public:
  explicit RingLane(RingShape shape)
      : memory_(
            static_cast<std::byte*>(::operator new (ring_bytes(shape), std::align_val_t{ring_alignment}))),
        writer_(zeroed(shape), shape),
        reader_(memory_.get(), shape) {}
  void send(std::uint64_t message) {
    PacketHeader header;
    header.tag = static_cast<std::int64_t>(message);
    header.payload_bytes = sizeof(message);
    while (!writer_.try_write(RecordKind::packet, header, std::as_bytes(std::span(&message, 1)), Share::data))
      wait_a_little();
  }
  std::uint64_t receive() {
    while (!reader_.has_next()) wait_a_little();
    Record record;
    if (reader_.look(record) != Look::record) return over;
    std::uint64_t message = 0;
    std::memcpy(&message, record.chunk.data(), record.header.payload_bytes & 15);
    benchmark::DoNotOptimize(reader_.release());
    return message;
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{ring_alignment}); }
  };
  std::byte* zeroed(RingShape shape) {
    std::memset(memory_.get(), 0, ring_bytes(shape));
    return memory_.get();
  }
  std::unique_ptr<std::byte, Free> memory_;
  alignas(128) RingWriter writer_;
  alignas(128) RingReader reader_;
};

// Runs `partner` on a second core beside `measured` on a first.
template <typename Measured, typename Partner>
void on_two_cores(benchmark::State& state, Measured measured, Partner partner) {
  const std::vector<int> cores = parley::bench::usable_cores();
  if (cores.size() < 2) {
    state.SkipWithError("needs two cores");
    return;
  }
  std::thread other([&] {
    const OnCore there(cores[1]);
    partner();
  });
  const OnCore here(cores[0]);
  measured();
  other.join();
}

// `one_way`: of an 8-byte message, half of the time of a round trip.
template <typename Lane>
void ping_pong(benchmark::State& state) {
  const RingShape shape{static_cast<std::uint32_t>(state.range(0)), 64 << 10};
  const auto there = std::make_unique<Lane>(shape);
  const auto back = std::make_unique<Lane>(shape);
  on_two_cores(
      state,
      [&] {
        std::uint64_t message = 1;
        for (auto _ : state) {
          there->send(message);
          message = back->receive() + 1;
        }
        there->send(over);
      },
      [&] {
        for (std::uint64_t message; (message = there->receive()) != over;) back->send(message);
      });
  state.counters["one_way"] = benchmark::Counter(2.0 * static_cast<double>(state.iterations()),
                                                 benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void ring_stream(benchmark::State& state) {
  RingLane lane({static_cast<std::uint32_t>(state.range(0)), 64 << 10});
  on_two_cores(
      state,
      [&] {
        for (auto _ : state) lane.send(1);
        lane.send(over);
      },
      [&] {
        while (lane.receive() != over) {
        }
      });
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

// Short turns of a known length, so that many of each kind take turns within the same minute.
constexpr int round_trips = 20'000;
constexpr int records = 200'000;

BENCHMARK_TEMPLATE(ping_pong, BareCell)
    ->Name("bare_cell_one_way")
    ->Arg(1)
    ->Iterations(round_trips)
    ->UseRealTime();
BENCHMARK_TEMPLATE(ping_pong, RingLane)
    ->Name("ring_one_way")
    ->Arg(64)
    ->Arg(1024)
    ->Iterations(round_trips)
    ->UseRealTime();
BENCHMARK(ring_stream)->Arg(64)->Arg(1024)->Iterations(records)->UseRealTime();

}  // namespace
