#include "bench/limits/limits_session.h"

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "bench/limits/channel_setup.h"
#include "bench/limits/floor.h"
#include "bench/limits/systems.h"
#include "bench/parley_system.h"
#include "bench/phase.h"
#include "bench/relay.h"
#include "bench/rewriting.h"
#include "bench/slowed.h"
#include "bench/spinless.h"
#include "bench/statistics.h"

namespace parley::bench {

LimitsSession::LimitsSession(ProcessGroup& group, const Options& options, Idle idle,
                             std::size_t most_message_bytes)
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
      channel_(open_channel(world_, pair_, most_message_bytes, waiting_)),
      turns_(world_, pair_.leads, idle),
      refusal_(agree_on_cross_memory(world_, pair_, channel_.partner_process())) {}

std::optional<std::string> LimitsSession::cross_memory_refusal() const {
  if (refusal_ == 0) return std::nullopt;
  return "process_vm_readv: " + std::generic_category().message(refusal_);
}

template <typename System>
std::function<PhaseResult()> LimitsSession::phase_of(std::shared_ptr<System> system, Op op, const Plan& plan,
                                                     Buffers& buffers) {
  return [this, system = std::move(system), op, plan, &buffers] {
    if (!options_.rewrite) return run_phase(*system, op, plan, pair_.leads);
    return run_prepared_phase(*system, op, plan, pair_.leads,
                              [&] { rewrite(gate_, buffers, op, pair_.leads); });
  };
}

LimitsSession::Entrant LimitsSession::make_entrant(LoopKind kind, Op op, const Plan& plan, Buffers& own,
                                                   Buffers& arena) {
  Buffers& buffers = placement_of(kind) == Placement::arena ? arena : own;
  const std::size_t bytes = buffers.out().size();
  const auto entrant = [&](auto system) {
    auto shared = std::make_shared<decltype(system)>(std::move(system));
    return Entrant{kind, buffers, phase_of(std::move(shared), op, plan, buffers), {}, raw_idle_, {}};
  };
  switch (kind) {
    case LoopKind::cell:
    case LoopKind::ring: return entrant(CellSystem(channel_, buffers, op, plan));
    case LoopKind::ring_stream: return entrant(StreamSystem(channel_, buffers, op, plan));
    case LoopKind::copied_reused: return entrant(CopiedSystem(channel_, buffers, plan, reused_slot(bytes)));
    case LoopKind::copied_rotating:
      return entrant(CopiedSystem(channel_, buffers, plan, rotating_slots(op, bytes)));
    case LoopKind::copied_past_caches:
      return entrant(CopiedSystem(channel_, buffers, plan, rotating_slots(op, bytes),
                                  CopiedSystem::Stores::past_caches));
    case LoopKind::cross_memory: return entrant(CrossMemorySystem(channel_, buffers, op, plan));
    case LoopKind::parley:
    case LoopKind::parley_arena:
    case LoopKind::mapped: break;
  }
  return entrant(MappedSystem(channel_, buffers, op, plan));
}

LimitsSession::Entrant LimitsSession::make_library(Op op, const Plan& plan, Buffers& buffers) {
  auto library = std::make_shared<Slowed<ParleySystem>>(pair_.leads, group_, pair_.partner, buffers, plan);
  const auto prove = [this, library, op, &buffers] { prove_messages(*library, buffers, op, pair_.leads); };
  return {LoopKind::parley, buffers, phase_of(std::move(library), op, plan, buffers), {}, idle_, prove};
}

LimitsSession::Floor LimitsSession::run_rounds(Op op, std::vector<Entrant>& entrants) {
  Floor floor;
  for (int round = 0; round < options_.rounds; ++round) {
    if (options_.relay != nullptr) options_.relay->hand_over(group_.rank());
    group_.barrier();
    // One pair is enough, and leaves the cores to it.
    if (pair_.index == 0) floor.probe_ns.push_back(probe_.measure());
    if (group_.rank() == 0) floor.memcpy_gb_per_s.push_back(measure_memcpy_gb_per_s());
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      Entrant& entrant = entrants[(i + static_cast<std::size_t>(round)) % entrants.size()];
      waiting_.set_idle(entrant.idle);
      turns_.take(arrivals_in(entrant.buffers, op, pair_.leads), entrant.series, entrant.phase,
                  entrant.prove);
    }
  }
  // A partner may still be reading this rank's buffers.
  group_.barrier();
  return floor;
}

std::optional<LimitFigures> LimitsSession::measure(Op op, std::size_t bytes) {
  const Plan plan =
      make_plan(op, bytes, options_.round_ms * 1000, idle_ == Idle::spin ? shared_cache : shared_core);
  Buffers own(bytes, group_.rank(), pair_.partner);
  Buffers arena(bytes, group_.rank(), pair_.partner, channel_.out().arena);
  const Tensor shared = options_.arena ? group_.shared_tensor(Buffers::room_for(bytes), DType::u8) : Tensor();
  std::optional<Buffers> library;
  if (options_.arena)
    library.emplace(bytes, group_.rank(), pair_.partner, shared.data_as<std::uint8_t>().data());
  // Their operations end before the buffers do, also when a partner has died.
  std::vector<Entrant> entrants;
  if (!options_.limits) entrants.push_back(make_library(op, plan, library ? *library : own));
  if (library) entrants.back().kind = LoopKind::parley_arena;
  for (const LoopKind kind : loops_for(op, bytes, refusal_ == 0)) {
    entrants.push_back(make_entrant(kind, op, plan, own, arena));
    if (idle_ == Idle::spin) continue;
    // Which way of giving the core away is the faster one depends on where the scheduler has put the ranks.
    entrants.push_back(entrants.back());
    entrants.back().idle = Idle::look;
  }
  const Floor floor = run_rounds(op, entrants);

  std::vector<Series> series;
  for (const Entrant& entrant : entrants) series.push_back(turns_.collect(op, entrant.series));
  if (group_.rank() != 0) return std::nullopt;
  const Subject subject{op, options_.transport, group_.size(), bytes, options_.rewrite};
  const double probe_ns = median(floor.probe_ns);
  const std::vector<std::size_t> rounds = rounds_that_count(series);
  LimitFigures figures;
  figures.mode = mode_of(floor.probe_ns);
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    LoopRow loop{.kind = entrants[i].kind, .row = {}, .idle = entrants[i].idle};
    const std::string system = (is_library(loop.kind) ? "" : "raw ") + name_of(loop);
    loop.row = make_row(subject, system, only(series[i], rounds), probe_ns);
    loop.row.rounds_left_out = options_.rounds - loop.row.rounds;
    // With more ranks than cores those of the probe may share one, which says nothing about the machine.
    const double trusted_probe_ns = idle_ == Idle::spin ? probe_ns : 0;
    loop.row.void_reason = void_reason(trusted_probe_ns, median(floor.memcpy_gb_per_s));
    figures.loops.push_back(std::move(loop));
  }
  judge(figures.loops);
  judge_limits(figures.loops, {smallest(floor.probe_ns), largest(floor.probe_ns),
                               median(floor.memcpy_gb_per_s), idle_ == Idle::spin});
  return figures;
}

}  // namespace parley::bench
