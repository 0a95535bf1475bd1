#include "bench/probe.h"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <new>
#include <stdexcept>
#include <vector>

#include "bench/statistics.h"
#include "bench/stopwatch.h"
#include "transport/base/spin.h"

namespace parley::bench {
namespace {

using Flag = std::atomic<std::uint32_t>;
static_assert(Flag::is_always_lock_free, "a lock would not work between processes");

constexpr int warmup_turns = 64;
constexpr int batches = 32;
constexpr int batch_turns = 64;

constexpr std::uint32_t spins_before_yield = 4096;
constexpr std::uint32_t polls_per_check = 1 << 16;
constexpr std::chrono::seconds patience{30};

// Spins; a partner that is not running gets this core after a while.
void wait_until(const Flag& flag, std::uint32_t turn) {
  std::chrono::steady_clock::time_point began{};
  // acquire: as a receiver of data would, pairs with the release of the store.
  for (std::uint32_t polls = 1; flag.load(std::memory_order_acquire) != turn; ++polls) {
    base::cpu_relax();
    if (polls > spins_before_yield) ::sched_yield();
    if (polls % polls_per_check != 0) continue;
    const auto now = std::chrono::steady_clock::now();
    if (began.time_since_epoch().count() == 0) began = now;
    if (now - began > patience) throw std::runtime_error("probe: the partner is silent for 30 s");
  }
}

}  // namespace

// Zero in a new page. Each flag has a writer and a cache line of its own.
struct Probe::Flags {
  alignas(64) Flag ping;
  alignas(64) Flag pong;
};

Probe::Probe(const SharedPage& page, bool leads)
    : flags_(*std::launder(static_cast<Flags*>(page.data()))), leads_(leads) {
  static_assert(sizeof(Flags) <= SharedPage::bytes);
}

void Probe::exchange(int count) {
  for (int i = 0; i < count; ++i) {
    ++turn_;
    // release: as a sender of data would, pairs with the acquire in wait_until.
    if (leads_) flags_.ping.store(turn_, std::memory_order_release);
    wait_until(leads_ ? flags_.pong : flags_.ping, turn_);
    if (!leads_) flags_.pong.store(turn_, std::memory_order_release);
  }
}

double Probe::time_batch() {
  const Stopwatch watch;
  exchange(batch_turns);
  return watch.elapsed_us() * 1000 / (2 * batch_turns);
}

double Probe::measure() {
  exchange(warmup_turns);
  std::vector<double> one_way_ns;
  for (int i = 0; i < batches; ++i) one_way_ns.push_back(time_batch());
  return leads_ ? median(one_way_ns) : 0;
}

}  // namespace parley::bench
