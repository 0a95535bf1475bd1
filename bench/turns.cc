#include "bench/turns.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/core_watch.h"

namespace parley::bench {
namespace {

void send_values(World& world, std::span<const double> values, int destination) {
  world.send_value(static_cast<std::int64_t>(values.size()), destination);
  if (!values.empty()) world.send_bytes(std::as_bytes(values), destination);
}

std::vector<double> recv_values(World& world, int source) {
  std::vector<double> values(static_cast<std::size_t>(world.recv_value<std::int64_t>(source)));
  if (!values.empty()) world.recv_bytes(std::as_writable_bytes(std::span(values)), source);
  return values;
}

}  // namespace

Arrivals arrivals_in(Buffers& buffers, Op op, bool leads) {
  return {[&buffers] { buffers.spoil_in(); },
          [&buffers, op, leads] {
            if (receives_messages(op, leads)) buffers.check_in();
          }};
}

void Turns::take(const Arrivals& arrivals, Series& series, const std::function<PhaseResult()>& phase,
                 const std::function<void()>& prove) {
  arrivals.spoil();
  world_.barrier();
  const CoreWatch core;
  const PhaseResult result = phase();
  const std::optional<double> core_share = core.share();
  if (leads_) series.append(result);
  // A loop that gives its core away waits for it afterwards, undisturbed as it may be.
  if (core_share && idle_ == Idle::spin) series.core_share.push_back(*core_share);
  arrivals.check();
  if (prove) prove();
}

Series Turns::collect(Op op, const Series& mine) {
  if (world_.rank() != 0) {
    send_values(world_, mine.round_us, 0);
    send_values(world_, mine.tail_us, 0);
    send_values(world_, mine.core_share, 0);
    return mine;
  }
  std::vector<Series> ranks{mine};
  for (int rank = 1; rank < world_.size(); ++rank) {
    Series other;
    other.round_us = recv_values(world_, rank);
    other.tail_us = recv_values(world_, rank);
    other.core_share = recv_values(world_, rank);
    ranks.push_back(std::move(other));
  }
  return combine(op, ranks);
}

}  // namespace parley::bench
