#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bench/op.h"
#include "bench/plan.h"
#include "bench/statistics.h"
#include "bench/stopwatch.h"

namespace parley::bench {

// What the rank that leads learns of one system in one round. All per message, one way, or per collective.
struct PhaseResult {
  double us = 0;                // the median over the plan's batches of their mean
  std::vector<double> tail_us;  // single exchanges; empty where they are not timed
};

template <typename Exchange>
void repeat(Exchange&& exchange, int count) {
  for (int i = 0; i < count; ++i) exchange();
}

// Gives `run` what this end does in an exchange, and returns what it returns. A System moves messages to and
// from its partner: send(), recv() one message; send_window(), recv_window() a window of them; send_ack(),
// recv_ack() a small answer; exchange_windows(), if it can, a window each way at once. The same loops serve
// the library, the raw loops and the peers, so that they differ in nothing else.
template <typename System, typename Run>
auto with_exchange(System& system, Op op, bool leads, Run&& run) {
  switch (operation(op).traffic) {
    case Traffic::both_ways:
      if constexpr (requires { system.exchange_windows(); }) {
        return run([&] { system.exchange_windows(); });
      } else {
        throw std::logic_error("this system cannot send both ways at once");
      }
    case Traffic::windows:
      if (leads) return run([&] { system.send_window(), system.recv_ack(); });
      return run([&] { system.recv_window(), system.send_ack(); });
    case Traffic::ping_pong:
    case Traffic::collective: break;
  }
  if (leads) return run([&] { system.send(), system.recv(); });
  return run([&] { system.recv(), system.send(); });
}

template <typename Exchange>
PhaseResult time_exchanges(Exchange&& exchange, const Plan& plan) {
  repeat(exchange, plan.warmup);
  std::vector<double> means;
  means.reserve(static_cast<std::size_t>(plan.batches));
  Stopwatch watch;
  for (int i = 0; i < plan.batches; ++i) {
    repeat(exchange, plan.batch_length);
    means.push_back(watch.lap_us() / (plan.batch_length * plan.divisor));
  }
  PhaseResult result;
  result.us = median(means);
  result.tail_us.reserve(static_cast<std::size_t>(plan.tail_samples));
  watch.lap_us();
  for (int i = 0; i < plan.tail_samples; ++i) {
    exchange();
    result.tail_us.push_back(watch.lap_us() / plan.divisor);
  }
  if (plan.batches_are_samples) result.tail_us = std::move(means);
  return result;
}

// The same with `prepare` before each exchange, outside the measured time. So each exchange is timed by
// itself, and of each time `overhead_us` is taken off: what an empty exchange seems to take.
template <typename Prepare, typename Exchange>
PhaseResult time_prepared_exchanges(Prepare&& prepare, Exchange&& exchange, const Plan& plan,
                                    double overhead_us) {
  const auto timed_us = [&] {
    prepare();
    const Stopwatch watch;
    exchange();
    return std::max(watch.elapsed_us() - overhead_us, 0.0);
  };
  repeat(timed_us, plan.warmup);
  std::vector<double> means;
  means.reserve(static_cast<std::size_t>(plan.batches));
  for (int i = 0; i < plan.batches; ++i) {
    double sum_us = 0;
    for (int j = 0; j < plan.batch_length; ++j) sum_us += timed_us();
    means.push_back(sum_us / (plan.batch_length * plan.divisor));
  }
  PhaseResult result;
  result.us = median(means);
  for (int i = 0; i < plan.tail_samples; ++i) result.tail_us.push_back(timed_us() / plan.divisor);
  if (plan.batches_are_samples) result.tail_us = std::move(means);
  return result;
}

// Measures one system in one round, on both ends of a pair at once. The result of the end that does not lead
// is empty.
template <typename System>
PhaseResult run_phase(System& system, Op op, const Plan& plan, bool leads) {
  return with_exchange(system, op, leads, [&](auto&& exchange) {
    if (leads) return time_exchanges(exchange, plan);
    repeat(exchange, plan.exchanges());
    return PhaseResult{};
  });
}

// The same, but both ends call prepare() before each exchange, which must return on the end that leads after
// it has returned on the other: outside the measured time they write their buffers anew.
template <typename System, typename Prepare>
PhaseResult run_prepared_phase(System& system, Op op, const Plan& plan, bool leads, Prepare&& prepare) {
  return with_exchange(system, op, leads, [&](auto&& exchange) {
    if (leads) return time_prepared_exchanges(prepare, exchange, plan, clock_cost_us());
    repeat([&] { prepare(), exchange(); }, plan.exchanges());
    return PhaseResult{};
  });
}

}  // namespace parley::bench
