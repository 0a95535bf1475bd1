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

// Whether this end has received whole messages of the measured size: the leader of a windowed phase got
// answers only.
bool receives_messages(Op op, bool leads) {
  return !is_windowed(op) || !leads;
}

void send_values(ProcessGroup& group, std::vector<double> values, int destination) {
  const auto count = static_cast<std::int64_t>(values.size());
  group.send(count, destination);
  group.send(std::span<double>(values), destination);
}

std::vector<double> recv_values(ProcessGroup& group, int source) {
  std::vector<double> values(static_cast<std::size_t>(group.recv<std::int64_t>(source)));
  group.recv(std::span<double>(values), source);
  return values;
}

}  // namespace

void Turns::take(Op op, Buffers& buffers, Series& series, const std::function<PhaseResult()>& phase) {
  buffers.spoil_in();
  group_.barrier();
  const CoreWatch core;
  const PhaseResult result = phase();
  const std::optional<double> core_share = core.share();
  if (pair_.leads) series.append(result);
  // A loop that gives its core away waits for it afterwards, undisturbed as it may be.
  if (core_share && idle_ == Idle::spin) series.core_share.push_back(*core_share);
  if (receives_messages(op, pair_.leads)) buffers.check_in();
}

Series Turns::collect(Op op, const Series& mine) {
  if (group_.rank() != 0) {
    send_values(group_, mine.round_us, 0);
    send_values(group_, mine.tail_us, 0);
    send_values(group_, mine.core_share, 0);
    return mine;
  }
  std::vector<Series> ranks{mine};
  for (int rank = 1; rank < group_.size(); ++rank) {
    Series other;
    other.round_us = recv_values(group_, rank);
    other.tail_us = recv_values(group_, rank);
    other.core_share = recv_values(group_, rank);
    ranks.push_back(std::move(other));
  }
  return combine(op, ranks);
}

}  // namespace parley::bench
