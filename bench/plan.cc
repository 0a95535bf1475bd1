#include "bench/plan.h"

#include <algorithm>

namespace parley::bench {
namespace {

// Up to here an exchange is so short that a clock reading for each would show.
constexpr std::size_t batched_bytes = 8 * 1024;
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

Plan ping_pong(std::size_t bytes, double round_us, const Cost& cost) noexcept {
  const double round_trip_us = 2 * (cost.hop_us + static_cast<double>(bytes) / cost.bytes_per_us);
  const int round_trips = fit(round_us, round_trip_us, 4);
  Plan plan;
  plan.warmup = std::max(2, round_trips / 8);
  plan.divisor = 2;
  if (bytes > batched_bytes) {
    plan.batches = round_trips;
    plan.batch_length = 1;
    plan.batches_are_samples = true;
  } else {
    plan.batches = std::max(1, round_trips / batch_length);
    plan.batch_length = batch_length;
    plan.tail_samples = std::min(round_trips / 2, most_tail_samples);
  }
  return plan;
}

Plan windows(std::size_t bytes, double round_us, const Cost& cost) noexcept {
  Plan plan;
  const auto affordable = static_cast<int>(std::min<std::size_t>(window_bytes / bytes, full_window));
  plan.window = std::max(affordable, smallest_window);
  const double window_us =
      cost.hop_us + plan.window * (cost.message_us + static_cast<double>(bytes) / cost.bytes_per_us);
  plan.warmup = 1;
  plan.batches = 1;
  plan.batch_length = fit(round_us, window_us, 1);
  plan.divisor = plan.window;
  return plan;
}

}  // namespace

Plan make_plan(Op op, std::size_t bytes, double round_us, const Cost& cost) noexcept {
  return is_windowed(op) ? windows(bytes, round_us, cost) : ping_pong(bytes, round_us, cost);
}

}  // namespace parley::bench
