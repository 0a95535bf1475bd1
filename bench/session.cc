#include "bench/session.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "bench/buffers.h"
#include "bench/parley_system.h"
#include "bench/plan.h"
#include "bench/raw_system.h"
#include "bench/statistics.h"
#include "bench/stopwatch.h"

namespace parley::bench {
namespace {

// Whether this end has received whole messages of the measured size: the leader of a windowed phase got
// answers only.
bool receives_messages(Op op, bool leads) {
  return !is_windowed(op) || !leads;
}

void send_all(ProcessGroup& group, std::vector<double> values, int destination) {
  const auto count = static_cast<std::int64_t>(values.size());
  group.send(count, destination);
  group.send(std::span<double>(values), destination);
}

std::vector<double> recv_all(ProcessGroup& group, int source) {
  std::vector<double> values(static_cast<std::size_t>(group.recv<std::int64_t>(source)));
  group.recv(std::span<double>(values), source);
  return values;
}

}  // namespace

Session::Session(ProcessGroup& group, const Options& options, Idle idle)
    : group_(group),
      options_(options),
      idle_(idle),
      pair_(make_pair_of(group, idle)),
      probe_(pair_.page, pair_.leads) {}

Session::Gathered Session::run_rounds(std::size_t bytes) {
  const Plan plan = make_plan(options_.op, bytes, options_.round_ms * 1000);
  Buffers buffers(bytes, group_.rank(), pair_.partner);
  ParleySystem parley(group_, pair_.partner, buffers, plan);
  RawSystem raw(pair_.link, buffers, options_.op, plan);
  Gathered gathered;
  double share = 0;
  const auto phase = [&](auto& system, Series& series) {
    buffers.spoil_in();
    group_.barrier();
    const Stopwatch wall;
    const CpuWatch cpu;
    const PhaseResult result = run_phase(system, options_.op, plan, pair_.leads);
    share = cpu.elapsed_us() / wall.elapsed_us();
    if (pair_.leads) series.append(result);
    if (receives_messages(options_.op, pair_.leads)) buffers.check_in();
  };
  for (int round = 0; round < options_.rounds; ++round) {
    group_.barrier();
    // One pair is enough, and leaves the cores to it.
    if (pair_.index == 0) gathered.probe_ns.push_back(probe_.measure());
    if (round % 2 == 0) phase(parley, gathered.parley);
    phase(raw, gathered.raw);
    gathered.core_share.push_back(share);
    if (round % 2 != 0) phase(parley, gathered.parley);
  }
  return gathered;
}

Series Session::collect(const Series& mine) {
  if (!pair_.leads) return mine;
  if (pair_.index != 0) {
    send_all(group_, mine.round_us, 0);
    send_all(group_, mine.tail_us, 0);
    return mine;
  }
  std::vector<Series> pairs{mine};
  for (int leader = 2; leader < group_.size(); leader += 2) {
    Series other;
    other.round_us = recv_all(group_, leader);
    other.tail_us = recv_all(group_, leader);
    pairs.push_back(std::move(other));
  }
  return combine(options_.op, pairs);
}

double Session::collect_smallest(double mine) {
  if (group_.rank() != 0) {
    group_.send(mine, 0);
    return mine;
  }
  for (int rank = 1; rank < group_.size(); ++rank) mine = std::min(mine, group_.recv<double>(rank));
  return mine;
}

std::optional<Figures> Session::measure(std::size_t bytes) {
  const Gathered gathered = run_rounds(bytes);
  const Series parley = collect(gathered.parley);
  const Series raw = collect(gathered.raw);
  const double core_share = collect_smallest(median(gathered.core_share));
  if (group_.rank() != 0) return std::nullopt;
  const Subject subject{options_.op, options_.transport, group_.size(), bytes};
  const double probe_ns = median(gathered.probe_ns);
  Figures figures{make_row(subject, "parley", parley, probe_ns), make_row(subject, "raw", raw, probe_ns),
                  std::nullopt};
  if (idle_ == Idle::spin) figures.core_share = core_share;
  if (options_.op != Op::message_rate) compare_with_limit(figures.parley, figures.raw);
  return figures;
}

}  // namespace parley::bench
