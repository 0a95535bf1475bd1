#include "bench/plan.h"

#include <algorithm>

namespace parley::bench {
namespace {

// Up to here, and when an exchange takes no longer than this, a clock reading for each would show.
constexpr std::size_t batched_bytes = 8 * 1024;
constexpr double batched_us = 100;
constexpr int batch_length = 16;
// Enough for percentiles when the rounds are put together.
constexpr int most_tail_samples = 5'000;

constexpr int full_window = 64;
constexpr std::size_t window_bytes = std::size_t{256} << 20;
constexpr int smallest_window = 4;

constexpr double most_exchanges = 100'000;

// How many exchanges of one cost fill the time.
int fit(double time_us, double cost_us, int least) noexcept {
  return static_cast<int>(std::clamp(time_us / cost_us, static_cast<double>(least), most_exchanges));
}

// Before the measured ones: enough for what is made when traffic begins, such as memory that a stream uses.
int warmup_of(int exchanges, int least) noexcept {
  return std::max(least, exchanges / 8);
}

// What one exchange takes by the costs of its parts.
double estimate_us(Op op, std::size_t bytes, const Cost& cost) noexcept {
  const double copy_us = static_cast<double>(bytes) / cost.bytes_per_us;
  const int window = window_for(op, bytes);
  switch (operation(op).traffic) {
    case Traffic::windows: return cost.hop_us + window * (cost.message_us + copy_us);
    case Traffic::both_ways: return cost.hop_us + 2 * window * (cost.message_us + copy_us);
    case Traffic::ping_pong:
    case Traffic::collective: break;
  }
  return 2 * (cost.hop_us + copy_us);
}

// Of a ping-pong or a collective: its single exchanges are of interest too.
Plan single_exchanges(std::size_t bytes, double round_us, double exchange_us) noexcept {
  const int exchanges = fit(round_us, exchange_us, 4);
  Plan plan;
  plan.warmup = warmup_of(exchanges, 2);
  if (bytes > batched_bytes || exchange_us > batched_us) {
    plan.batches = exchanges;
    plan.batch_length = 1;
    plan.batches_are_samples = true;
  } else {
    plan.batches = std::max(1, exchanges / batch_length);
    plan.batch_length = batch_length;
    plan.tail_samples = std::min(exchanges / 2, most_tail_samples);
  }
  return plan;
}

}  // namespace

int window_for(Op op, std::size_t bytes) noexcept {
  if (!is_windowed(op)) return 1;
  const auto affordable = static_cast<int>(std::min<std::size_t>(window_bytes / bytes, full_window));
  return std::max(affordable, smallest_window);
}

Plan make_plan(Op op, std::size_t bytes, double round_us, const Cost& cost) noexcept {
  return make_plan(op, bytes, round_us, estimate_us(op, bytes, cost));
}

Plan make_plan(Op op, std::size_t bytes, double round_us, double exchange_us) noexcept {
  if (!is_windowed(op)) {
    Plan plan = single_exchanges(bytes, round_us, exchange_us);
    plan.divisor = is_collective(op) ? 1 : 2;
    return plan;
  }
  Plan plan;
  plan.window = window_for(op, bytes);
  plan.batches = 1;
  plan.batch_length = fit(round_us, exchange_us, 1);
  plan.warmup = warmup_of(plan.batch_length, 1);
  plan.divisor = operation(op).traffic == Traffic::both_ways ? 2 * plan.window : plan.window;
  return plan;
}

Plan in_whole_rotations(Plan plan, int ranks) noexcept {
  const int calls = plan.batches * plan.batch_length;
  const auto rounded_up = [ranks](int count) { return (count + ranks - 1) / ranks * ranks; };
  plan.warmup = rounded_up(plan.warmup);
  plan.batch_length = rounded_up(plan.batch_length);
  plan.batches = std::max(1, calls / plan.batch_length);
  plan.tail_samples = rounded_up(plan.tail_samples);
  return plan;
}

}  // namespace parley::bench
