#pragma once

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

}  // namespace detail

// Measures one system in one round, on both ends of a pair at once. A System moves messages to and from its
// partner: send(), recv() one message; send_window(), recv_window() a window of them; send_ack(), recv_ack()
// a small answer. The same loops serve the library and the raw socket, so that they differ in nothing else.
// The result of the end that does not lead is empty.
template <typename System>
PhaseResult run_phase(System& system, Op op, const Plan& plan, bool leads) {
  const auto ping = [&] { system.send(), system.recv(); };
  const auto pong = [&] { system.recv(), system.send(); };
  const auto push = [&] { system.send_window(), system.recv_ack(); };
  const auto pull = [&] { system.recv_window(), system.send_ack(); };
  if (leads) return is_windowed(op) ? detail::time_exchanges(push, plan) : detail::time_exchanges(ping, plan);
  if (is_windowed(op)) {
    detail::repeat(pull, plan.exchanges());
  } else {
    detail::repeat(pong, plan.exchanges());
  }
  return {};
}

}  // namespace parley::bench
