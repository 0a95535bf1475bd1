#include "bench/session.h"

#include <algorithm>
#include <functional>

#include "bench/limits/floor.h"
#include "bench/limits/limit_floor.h"
#include "bench/parley_system.h"
#include "bench/phase.h"
#include "bench/raw_system.h"
#include "bench/relay.h"
#include "bench/rewriting.h"
#include "bench/slowed.h"
#include "bench/spinless.h"
#include "bench/statistics.h"

namespace parley::bench {

Session::Session(ProcessGroup& group, const Options& options, Idle idle)
    : group_(group),
      options_(options),
      idle_(idle),
      raw_idle_(idle_of_raw_loops(idle)),
      world_(group),
      pair_(make_pair_of(world_, idle)),
      probe_waiting_(pair_.link, Idle::spin),
      waiting_(pair_.link, idle),
      probe_(pair_.page, probe_waiting_, pair_.leads),
      gate_(pair_.gate_flags(), 2, pair_.place(), waiting_),
      turns_(world_, pair_.leads, idle) {}

template <typename System>
PhaseResult Session::run(System& system, const Plan& plan, Buffers& buffers) {
  const Op op = options_.op;
  if (!options_.rewrite) return run_phase(system, op, plan, pair_.leads);
  return run_prepared_phase(system, op, plan, pair_.leads, [&] { rewrite(gate_, buffers, op, pair_.leads); });
}

Session::Gathered Session::run_rounds(std::size_t bytes) {
  const Plan plan = make_plan(options_.op, bytes, options_.round_ms * 1000);
  Buffers buffers(bytes, group_.rank(), pair_.partner);
  Slowed<ParleySystem> parley(pair_.leads, group_, pair_.partner, buffers, plan);
  RawSystem raw(pair_.link, buffers, options_.op, plan);
  Gathered gathered;
  const auto take_turn = [&](auto& system, Series& series, const std::function<void()>& prove = {}) {
    turns_.take(
        arrivals_in(buffers, options_.op, pair_.leads), series, [&] { return run(system, plan, buffers); },
        prove);
  };
  const auto prove = [&] { prove_messages(parley, buffers, options_.op, pair_.leads); };
  const auto take_raw_turn = [&](Idle idle, Series& series) {
    pair_.link.set_idle(idle);
    take_turn(raw, series);
  };
  for (int round = 0; round < options_.rounds; ++round) {
    if (options_.relay != nullptr) options_.relay->hand_over(group_.rank());
    group_.barrier();
    // One pair is enough, and leaves the cores to it.
    if (pair_.index == 0) gathered.probe_ns.push_back(probe_.measure());
    if (group_.rank() == 0) gathered.memcpy_gb_per_s.push_back(measure_memcpy_gb_per_s());
    if (round % 2 == 0) take_turn(parley, gathered.parley, prove);
    take_raw_turn(raw_idle_, gathered.raw);
    if (idle_ != Idle::spin) take_raw_turn(Idle::look, gathered.raw_look);
    if (round % 2 != 0) take_turn(parley, gathered.parley, prove);
  }
  return gathered;
}

std::optional<Figures> Session::measure(std::size_t bytes) {
  const Gathered gathered = run_rounds(bytes);
  std::vector<Series> series{turns_.collect(options_.op, gathered.parley),
                             turns_.collect(options_.op, gathered.raw)};
  if (idle_ != Idle::spin) series.push_back(turns_.collect(options_.op, gathered.raw_look));
  if (group_.rank() != 0) return std::nullopt;
  return make_figures(bytes, series, gathered);
}

// Of the library, and of one or two ways of the raw loop.
Figures Session::make_figures(std::size_t bytes, std::span<const Series> series,
                              const Gathered& gathered) const {
  const double probe_ns = median(gathered.probe_ns);
  const double memcpy_gb_per_s = median(gathered.memcpy_gb_per_s);
  // With more ranks than cores those of the probe may share one, which says nothing about the machine.
  const auto reason = void_reason(idle_ == Idle::spin ? probe_ns : 0, memcpy_gb_per_s);
  const Subject subject{options_.op, options_.transport, group_.size(), bytes, options_.rewrite};
  const std::vector<std::size_t> rounds = rounds_that_count(series);
  std::vector<Row> rows;
  for (const Series& one : series)
    rows.push_back(make_row(subject, rows.empty() ? "parley" : "raw", only(one, rounds), probe_ns));
  for (Row& row : rows) {
    row.rounds_left_out = options_.rounds - row.rounds;
    row.void_reason = reason;
  }
  const auto is_faster = [](const Row& a, const Row& b) { return a.median_us < b.median_us; };
  Figures figures{rows.front(), *std::min_element(rows.begin() + 1, rows.end(), is_faster)};
  if (options_.op == Op::message_rate) return figures;
  compare_with_limit(figures.parley, figures.raw);
  figures.parley.limit_void_reason = limit_void_reason(
      raw_figure_of(figures.raw),
      {smallest(gathered.probe_ns), largest(gathered.probe_ns), memcpy_gb_per_s, idle_ == Idle::spin});
  return figures;
}

}  // namespace parley::bench
