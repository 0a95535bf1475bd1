#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bench/buffers.h"
#include "bench/collective.h"
#include "bench/collective_buffers.h"
#include "bench/gate.h"
#include "bench/op.h"
#include "bench/phase.h"
#include "bench/plan.h"
#include "bench/raw_link.h"
#include "bench/rewriting.h"
#include "bench/stopwatch.h"
#include "bench/turns.h"

namespace parley::bench {

// Where a contender stands: what is measured, which end this is, and how the ranks meet between exchanges
// when their buffers are written anew.
struct Stage {
  Op op;
  bool leads;
  bool rewritten;
  Gate& gate;
  // For loops without a library: what tells whether the neighbour lives, and how they wait.
  const RawLink& link;
  Idle idle;
  bool read = false;  // what a collective brings
};

// One way of one library to do an operation at one size; what the session knows of it.
struct Contender {
  std::string system;  // the rows': "openmpi", "gloo", "gloo-default"
  // So many exchanges; microseconds of them all on a rank that leads.
  std::function<double(int count)> try_out;
  std::function<PhaseResult(const Plan&)> phase;
  // What its turn brings, where that is not what the session's buffers are there for.
  std::optional<Arrivals> arrivals = {};
  // Of a way that moves messages: prove_messages().
  std::function<void()> prove = {};
  // A collective's buffers, where they are not the session's.
  CollectiveBuffers* buffers = nullptr;
};

// A System of phase.h, made of `arguments`. Borrows stage and buffers.
template <typename System, typename... Arguments>
Contender make_pair_contender(std::string name, const Stage& stage, Buffers& buffers,
                              Arguments&&... arguments) {
  auto system = std::make_shared<System>(std::forward<Arguments>(arguments)...);
  const auto try_out = [system, &stage](int count) {
    const Stopwatch watch;
    with_exchange(*system, stage.op, stage.leads, [count](auto&& exchange) { repeat(exchange, count); });
    return watch.elapsed_us();
  };
  const auto phase = [system, &stage, &buffers](const Plan& plan) {
    if (!stage.rewritten) return run_phase(*system, stage.op, plan, stage.leads);
    return run_prepared_phase(*system, stage.op, plan, stage.leads,
                              [&] { rewrite(stage.gate, buffers, stage.op, stage.leads); });
  };
  const auto prove = [system, &stage, &buffers] { prove_messages(*system, buffers, stage.op, stage.leads); };
  return {std::move(name), try_out, phase, {}, prove};
}

// A Collective of collective.h, made of `arguments`. Borrows stage and buffers.
template <typename Collective, typename... Arguments>
Contender make_collective_contender(std::string name, const Stage& stage, CollectiveBuffers& buffers,
                                    Arguments&&... arguments) {
  struct Player {
    Player(const Stage& on, CollectiveBuffers& of, Arguments&&... made_of)
        : collective(std::forward<Arguments>(made_of)...), exchange(collective, of, on.read) {}
    Collective collective;
    CollectiveExchange<Collective> exchange;
  };
  auto player = std::make_shared<Player>(stage, buffers, std::forward<Arguments>(arguments)...);
  const auto try_out = [player](int count) {
    const Stopwatch watch;
    repeat(player->exchange, count);
    return watch.elapsed_us();
  };
  const auto phase = [player, &stage, &buffers](const Plan& plan) {
    if (!stage.rewritten) return run_collective_phase(player->exchange, plan, stage.leads);
    return run_prepared_collective_phase(player->exchange, buffers, plan, stage.leads, stage.gate);
  };
  return {std::move(name), try_out, phase, {}, {}};
}

}  // namespace parley::bench
