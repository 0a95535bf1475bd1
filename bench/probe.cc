#include "bench/probe.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <vector>

#include "bench/statistics.h"
#include "bench/stopwatch.h"

namespace parley::bench {
namespace {

using Flag = std::atomic<std::uint32_t>;
static_assert(Flag::is_always_lock_free, "a lock would not work between processes");

constexpr int warmup_turns = 64;
constexpr std::size_t batches = 32;
constexpr int batch_turns = 64;

// No batch begins later.
constexpr double enough_us = 20'000;

// Beside a turn's number: no other batch follows.
constexpr std::uint32_t last = std::uint32_t{1} << 31;

}  // namespace

// Zero in new memory. Each flag has a writer and a cache line of its own.
struct Probe::Flags {
  alignas(64) Flag ping;
  alignas(64) Flag pong;
};

Probe::Probe(const SharedMemory& memory, const Waiting& waiting, bool leads)
    : flags_(*std::launder(static_cast<Flags*>(memory.data()))), waiting_(waiting), leads_(leads) {
  static_assert(sizeof(Flags) <= memory_bytes);
}

void Probe::exchange(int count) {
  for (int i = 0; i < count; ++i) {
    turn_ = (turn_ + 1) % last;
    const Flag& awaited = leads_ ? flags_.pong : flags_.ping;
    // release: as a sender of data would, pairs with the acquire below.
    if (leads_) flags_.ping.store(turn_, std::memory_order_release);
    // acquire: as a receiver of data would, pairs with the release of the stores.
    waiting_.until([&] { return awaited.load(std::memory_order_acquire) == turn_; });
    if (!leads_) flags_.pong.store(turn_, std::memory_order_release);
  }
}

double Probe::time_batch() {
  const Stopwatch watch;
  exchange(batch_turns);
  return watch.elapsed_us() * 1000 / (2 * batch_turns);
}

bool Probe::goes_on(bool wanted) {
  turn_ = (turn_ + 1) % last;
  // Memory orders as in exchange().
  if (leads_) {
    flags_.ping.store(turn_ | (wanted ? 0 : last), std::memory_order_release);
    waiting_.until([&] { return flags_.pong.load(std::memory_order_acquire) == turn_; });
    return wanted;
  }
  std::uint32_t told = 0;
  waiting_.until([&] {
    told = flags_.ping.load(std::memory_order_acquire);
    return told % last == turn_;
  });
  flags_.pong.store(turn_, std::memory_order_release);
  return told < last;
}

double Probe::measure() {
  exchange(warmup_turns);
  std::vector<double> one_way_ns;
  const Stopwatch watch;
  do {
    one_way_ns.push_back(time_batch());
  } while (goes_on(one_way_ns.size() < batches && watch.elapsed_us() < enough_us));
  return leads_ ? median(one_way_ns) : 0;
}

Mode mode_of(std::span<const double> probe_ns) noexcept {
  std::array<std::size_t, 3> counts{};
  for (const double ns : probe_ns) {
    const Mode mode = ns < sibling_below_ns ? Mode::sibling : ns < near_below_ns ? Mode::near : Mode::far;
    ++counts[static_cast<std::size_t>(mode)];
  }
  for (const Mode mode : {Mode::sibling, Mode::near, Mode::far}) {
    if (10 * counts[static_cast<std::size_t>(mode)] >= 9 * probe_ns.size()) return mode;
  }
  return Mode::mixed;
}

}  // namespace parley::bench
