#include "bench/session.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "bench/core_watch.h"
#include "bench/parley_system.h"
#include "bench/phase.h"
#include "bench/raw_system.h"
#include "bench/statistics.h"

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

Session::Session(ProcessGroup& group, const Options& options, Idle idle)
    : group_(group),
      options_(options),
      idle_(idle),
      pair_(make_pair_of(group, idle)),
      probe_(pair_.page, pair_.leads) {}

template <typename System>
void Session::take_turn(System& system, const Plan& plan, Buffers& buffers, Series& series) {
  buffers.spoil_in();
  group_.barrier();
  const CoreWatch core;
  const PhaseResult result = run_phase(system, options_.op, plan, pair_.leads);
  const std::optional<double> core_share = core.share();
  if (pair_.leads) series.append(result);
  // A loop that gives its core away waits for it afterwards, undisturbed as it may be.
  if (core_share && idle_ == Idle::spin) series.core_share.push_back(*core_share);
  if (receives_messages(options_.op, pair_.leads)) buffers.check_in();
}

Session::Gathered Session::run_rounds(std::size_t bytes) {
  const Plan plan = make_plan(options_.op, bytes, options_.round_ms * 1000);
  Buffers buffers(bytes, group_.rank(), pair_.partner);
  ParleySystem parley(group_, pair_.partner, buffers, plan);
  RawSystem raw(pair_.link, buffers, options_.op, plan);
  Gathered gathered;
  for (int round = 0; round < options_.rounds; ++round) {
    group_.barrier();
    // One pair is enough, and leaves the cores to it.
    if (pair_.index == 0) gathered.probe_ns.push_back(probe_.measure());
    if (round % 2 == 0) take_turn(parley, plan, buffers, gathered.parley);
    take_turn(raw, plan, buffers, gathered.raw);
    if (round % 2 != 0) take_turn(parley, plan, buffers, gathered.parley);
  }
  return gathered;
}

Series Session::collect(const Series& mine) {
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
  return combine(options_.op, ranks);
}

std::optional<Figures> Session::measure(std::size_t bytes) {
  const Gathered gathered = run_rounds(bytes);
  const Series parley = collect(gathered.parley);
  const Series raw = collect(gathered.raw);
  if (group_.rank() != 0) return std::nullopt;
  const Subject subject{options_.op, options_.transport, group_.size(), bytes};
  const double probe_ns = median(gathered.probe_ns);
  const std::vector<std::size_t> rounds = rounds_that_count(parley, raw);
  Figures figures{make_row(subject, "parley", only(parley, rounds), probe_ns),
                  make_row(subject, "raw", only(raw, rounds), probe_ns)};
  for (Row* row : {&figures.parley, &figures.raw}) row->rounds_left_out = options_.rounds - row->rounds;
  if (options_.op != Op::message_rate) compare_with_limit(figures.parley, figures.raw);
  return figures;
}

}  // namespace parley::bench
