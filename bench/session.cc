#include "bench/session.h"

#include <array>

#include "bench/parley_system.h"
#include "bench/phase.h"
#include "bench/raw_system.h"
#include "bench/statistics.h"

namespace parley::bench {

Session::Session(ProcessGroup& group, const Options& options, Idle idle)
    : group_(group),
      options_(options),
      pair_(make_pair_of(group, idle)),
      waiting_(pair_.link, Idle::spin),
      probe_(pair_.page, waiting_, pair_.leads),
      turns_(group, pair_, idle) {}

Session::Gathered Session::run_rounds(std::size_t bytes) {
  const Plan plan = make_plan(options_.op, bytes, options_.round_ms * 1000);
  Buffers buffers(bytes, group_.rank(), pair_.partner);
  ParleySystem parley(group_, pair_.partner, buffers, plan);
  RawSystem raw(pair_.link, buffers, options_.op, plan);
  Gathered gathered;
  const auto take_turn = [&](auto& system, Series& series) {
    turns_.take(options_.op, buffers, series,
                [&] { return run_phase(system, options_.op, plan, pair_.leads); });
  };
  for (int round = 0; round < options_.rounds; ++round) {
    group_.barrier();
    // One pair is enough, and leaves the cores to it.
    if (pair_.index == 0) gathered.probe_ns.push_back(probe_.measure());
    if (round % 2 == 0) take_turn(parley, gathered.parley);
    take_turn(raw, gathered.raw);
    if (round % 2 != 0) take_turn(parley, gathered.parley);
  }
  return gathered;
}

std::optional<Figures> Session::measure(std::size_t bytes) {
  const Gathered gathered = run_rounds(bytes);
  const std::array<Series, 2> series{turns_.collect(options_.op, gathered.parley),
                                     turns_.collect(options_.op, gathered.raw)};
  if (group_.rank() != 0) return std::nullopt;
  const Subject subject{options_.op, options_.transport, group_.size(), bytes};
  const double probe_ns = median(gathered.probe_ns);
  const std::vector<std::size_t> rounds = rounds_that_count(series);
  Figures figures{make_row(subject, "parley", only(series[0], rounds), probe_ns),
                  make_row(subject, "raw", only(series[1], rounds), probe_ns)};
  for (Row* row : {&figures.parley, &figures.raw}) row->rounds_left_out = options_.rounds - row->rounds;
  if (options_.op != Op::message_rate) compare_with_limit(figures.parley, figures.raw);
  return figures;
}

}  // namespace parley::bench
