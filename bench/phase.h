#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "bench/op.h"
#include "bench/plan.h"
#include "bench/statistics.h"
#include "bench/stopwatch.h"

namespace parley::bench {

// What the leading rank of a pair learns of one system in one round. All per message, one way.
struct PhaseResult {
  double us = 0;                // the median over the plan's batches of their mean
  std::vector<double> tail_us;  // single exchanges; empty where they are not timed
};

namespace detail {

template <typename Exchange>
void repeat(Exchange&& exchange, int count) {
  for (int i = 0; i < count; ++i) exchange();
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

// Gives lead() or follow() the exchange of this end.
template <typename System, typename Lead, typename Follow>
PhaseResult dispatch(System& system, Op op, bool leads, Lead&& lead, Follow&& follow) {
  if (is_windowed(op)) {
    if (leads) return lead([&] { system.send_window(), system.recv_ack(); });
    return follow([&] { system.recv_window(), system.send_ack(); });
  }
  if (leads) return lead([&] { system.send(), system.recv(); });
  return follow([&] { system.recv(), system.send(); });
}

// time_exchanges() with `prepare` before each exchange, outside the measured time. So each exchange is timed
// by itself, and of each time the cost of a clock reading is taken off.
template <typename Prepare, typename Exchange>
PhaseResult time_prepared_exchanges(Prepare&& prepare, Exchange&& exchange, const Plan& plan) {
  const double clock_us = clock_cost_us();
  const auto timed_us = [&] {
    prepare();
    const Stopwatch watch;
    exchange();
    return std::max(watch.elapsed_us() - clock_us, 0.0);
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

}  // namespace detail

// Measures one system in one round, on both ends of a pair at once. A System moves messages to and from its
// partner: send(), recv() one message; send_window(), recv_window() a window of them; send_ack(), recv_ack()
// a small answer. The same loops serve the library and the raw socket, so that they differ in nothing else.
// The result of the end that does not lead is empty.
template <typename System>
PhaseResult run_phase(System& system, Op op, const Plan& plan, bool leads) {
  const auto lead = [&](auto&& exchange) { return detail::time_exchanges(exchange, plan); };
  const auto follow = [&](auto&& exchange) {
    return detail::repeat(exchange, plan.exchanges()), PhaseResult{};
  };
  return detail::dispatch(system, op, leads, lead, follow);
}

// The same, but both ends call prepare() before each exchange, which must return on the end that leads after
// it has returned on the other: outside the measured time they write their buffers anew.
template <typename System, typename Prepare>
PhaseResult run_prepared_phase(System& system, Op op, const Plan& plan, bool leads, Prepare&& prepare) {
  const auto lead = [&](auto&& exchange) { return detail::time_prepared_exchanges(prepare, exchange, plan); };
  const auto follow = [&](auto&& exchange) {
    detail::repeat([&] { prepare(), exchange(); }, plan.exchanges());
    return PhaseResult{};
  };
  return detail::dispatch(system, op, leads, lead, follow);
}

}  // namespace parley::bench
