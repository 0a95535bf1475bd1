#include "bench/library_session.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "bench/limits/floor.h"
#include "bench/statistics.h"

namespace parley::bench {
namespace {

// A trial lasts at least this part of a turn, and no more exchanges than that.
constexpr double trial_part = 0.1;
constexpr int most_tried = 4096;

}  // namespace

LibrarySession::LibrarySession(Library& library, const Measurement& measurement, Idle idle)
    : library_(library),
      world_(library.world()),
      measurement_(measurement),
      idle_(idle),
      pair_(make_pair_of(world_, idle)),
      probe_waiting_(pair_.link, Idle::spin),
      waiting_(pair_.link, idle),
      probe_(pair_.page, probe_waiting_, pair_.leads),
      team_memory_(open_team_memory()),
      pair_gate_(pair_.gate_flags(), 2, pair_.place(), waiting_),
      team_gate_(team_memory_.data(), world_.size(), world_.rank(), waiting_),
      stage_{measurement.op,      leads(),
             measurement.rewrite, is_collective(measurement.op) ? team_gate_ : pair_gate_,
             pair_.link,          idle,
             measurement.read},
      turns_(world_, stage_.leads, idle) {}

bool LibrarySession::leads() const {
  return is_collective(measurement_.op) ? world_.rank() == 0 : pair_.leads;
}

SharedMemory LibrarySession::open_team_memory() {
  using Card = std::array<std::int32_t, 2>;
  if (world_.rank() != 0) {
    const Card card = world_.share_value(Card{});
    return SharedMemory::open_from(card[0], card[1]);
  }
  SharedMemory memory = SharedMemory::create(static_cast<std::size_t>(world_.size()) * Gate::bytes_per_rank);
  world_.share_value(Card{static_cast<std::int32_t>(::getpid()), memory.fd()});
  return memory;
}

// Microseconds of an exchange. They differ by four orders of magnitude between libraries; rank 0 decides for
// all. Each trial is made twice, and the faster one counts: in one of the first, libraries do what they do
// once.
double LibrarySession::try_out(const Contender& contender) {
  const double round_us = measurement_.round_ms * 1000;
  const auto try_together = [&](int count) {
    world_.barrier();
    return world_.share_value(contender.try_out(count));
  };
  // The first exchange makes connections.
  contender.try_out(1);
  for (int count = 1;; count *= 4) {
    const double first_us = try_together(count);
    const double us = std::min(first_us, try_together(count));
    if (us >= round_us * trial_part || count >= most_tried) return us / count;
  }
}

Plan LibrarySession::plan_for(std::size_t bytes, double exchange_us) const {
  const Plan plan = make_plan(measurement_.op, bytes, measurement_.round_ms * 1000, exchange_us);
  return has_root(measurement_.op) ? in_whole_rotations(plan, world_.size()) : plan;
}

LibrarySession::Gathered LibrarySession::run_all(std::size_t bytes, const std::vector<Contender>& contenders,
                                                 const ArrivalsOf& arrivals_of) {
  std::vector<Plan> plans;
  for (const Contender& contender : contenders) plans.push_back(plan_for(bytes, try_out(contender)));
  return run_rounds(contenders, plans, arrivals_of);
}

LibrarySession::Gathered LibrarySession::run_rounds(const std::vector<Contender>& contenders,
                                                    const std::vector<Plan>& plans,
                                                    const ArrivalsOf& arrivals_of) {
  Gathered gathered;
  gathered.series.resize(contenders.size());
  gathered.wrong.resize(contenders.size());
  for (int round = 0; round < measurement_.rounds; ++round) {
    world_.barrier();
    // One pair is enough, and leaves the cores to it.
    if (pair_.index == 0) gathered.probe_ns.push_back(probe_.measure());
    if (world_.rank() == 0) gathered.memcpy_gb_per_s.push_back(measure_memcpy_gb_per_s());
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const std::size_t turn = (i + static_cast<std::size_t>(round)) % contenders.size();
      const Contender& contender = contenders[turn];
      turns_.take(
          contender.arrivals ? *contender.arrivals : arrivals_of(contender, gathered.wrong[turn]),
          gathered.series[turn], [&] { return contender.phase(plans[turn]); }, contender.prove);
    }
  }
  // A partner may still be reading this rank's buffers.
  world_.barrier();
  return gathered;
}

// In the session's buffers, or in those of a contender's own.
LibrarySession::ArrivalsOf LibrarySession::arrivals_of_calls(CollectiveBuffers& buffers) {
  return [&buffers](const Contender& contender, std::size_t& wrong) {
    CollectiveBuffers& into = contender.buffers != nullptr ? *contender.buffers : buffers;
    return Arrivals{[&into] { into.spoil_in(); }, [&into, &wrong] { wrong += into.count_wrong(); }};
  };
}

// At rank 0: of all ranks.
std::size_t LibrarySession::count_all_wrong(std::size_t mine) {
  if (world_.rank() != 0) {
    world_.send_value(std::uint64_t{mine}, 0);
    return mine;
  }
  for (int rank = 1; rank < world_.size(); ++rank) mine += world_.recv_value<std::uint64_t>(rank);
  return mine;
}

std::optional<std::vector<Row>> LibrarySession::make_rows(std::size_t bytes,
                                                          const std::vector<Contender>& contenders,
                                                          const Gathered& gathered) {
  std::vector<Series> series;
  for (const Series& mine : gathered.series) series.push_back(turns_.collect(measurement_.op, mine));
  std::vector<std::size_t> wrong;
  for (const std::size_t mine : gathered.wrong) wrong.push_back(count_all_wrong(mine));
  if (world_.rank() != 0) return std::nullopt;
  const Subject subject{measurement_.op, measurement_.transport, world_.size(),
                        bytes,           measurement_.rewrite,   measurement_.devices};
  const double probe_ns = median(gathered.probe_ns);
  const std::vector<std::size_t> rounds = rounds_that_count(series);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    Row row = make_row(subject, contenders[i].system, only(series[i], rounds), probe_ns);
    row.rounds_left_out = measurement_.rounds - row.rounds;
    // With more ranks than cores those of the probe may share one, which says nothing about the machine.
    row.void_reason = void_reason(idle_ == Idle::spin ? probe_ns : 0, median(gathered.memcpy_gb_per_s));
    if (is_collective(measurement_.op)) {
      row.wrong = wrong[i];
      if (wrong[i] > 0) row.void_reason = std::to_string(wrong[i]) + " elements are wrong";
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<std::vector<Row>> LibrarySession::measure(std::size_t bytes) {
  if (is_collective(measurement_.op)) {
    CollectiveBuffers buffers(measurement_.op, bytes, world_.rank(), world_.size());
    const std::vector<Contender> contenders = library_.collective_contenders(stage_, buffers);
    return make_rows(bytes, contenders, run_all(bytes, contenders, arrivals_of_calls(buffers)));
  }
  Buffers buffers(bytes, world_.rank(), pair_.partner);
  // Until it is known how long an exchange takes, only the window counts.
  const Plan plan = make_plan(measurement_.op, bytes, measurement_.round_ms * 1000);
  const std::vector<Contender> contenders = library_.pair_contenders(stage_, pair_.partner, buffers, plan);
  const auto arrivals_of = [&](const Contender&, std::size_t&) {
    return arrivals_in(buffers, measurement_.op, stage_.leads);
  };
  return make_rows(bytes, contenders, run_all(bytes, contenders, arrivals_of));
}

std::optional<Contest> LibrarySession::contest(std::size_t bytes, double most_times) {
  CollectiveBuffers buffers(measurement_.op, bytes, world_.rank(), world_.size());
  const std::vector<Contender> all = library_.collective_contenders(stage_, buffers);
  std::vector<double> trials_us;
  for (const Contender& contender : all) trials_us.push_back(try_out(contender));
  const double most_us = most_times * smallest(trials_us);
  std::vector<Contender> contenders;
  std::vector<Plan> plans;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && trials_us[i] > most_us) continue;
    contenders.push_back(all[i]);
    plans.push_back(plan_for(bytes, trials_us[i]));
  }
  const Gathered gathered = run_rounds(contenders, plans, arrivals_of_calls(buffers));
  Contest contest;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    contest.systems.push_back(contenders[i].system);
    contest.series.push_back(turns_.collect(measurement_.op, gathered.series[i]));
    const std::size_t wrong = count_all_wrong(gathered.wrong[i]);
    if (wrong > 0)
      throw std::runtime_error(contenders[i].system + ": " + std::to_string(wrong) + " elements are wrong");
  }
  if (world_.rank() != 0) return std::nullopt;
  const std::vector<std::size_t> rounds = rounds_that_count(contest.series);
  for (Series& series : contest.series) series = only(series, rounds);
  contest.probe_ns = median(gathered.probe_ns);
  return contest;
}

}  // namespace parley::bench
