#pragma once

#include <parley/process_group.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/buffers.h"
#include "bench/gate.h"
#include "bench/limits/channel.h"
#include "bench/limits/figures.h"
#include "bench/options.h"
#include "bench/pair.h"
#include "bench/parley_world.h"
#include "bench/plan.h"
#include "bench/probe.h"
#include "bench/turns.h"
#include "bench/waiting.h"

namespace parley::bench {

// Measures the raw loops over shared memory, operation by operation and size by size. In each round the
// probe, a plain memcpy and then all loops take turns between the same processes, another loop first each
// time, so that all meet the machine in the same mode. The library only brings the processes together, before
// and after a turn.
class LimitsSession {
 public:
  // Every rank of the group makes one, with the same options and for messages of at most the same size. With
  // options.transport of the library's, not of `limits`, the library takes part in the rounds.
  // Borrows group and options.
  LimitsSession(ProcessGroup& group, const Options& options, Idle idle, std::size_t most_message_bytes);

  // Why some rank may not read its partner's memory, in words; the same on all ranks.
  [[nodiscard]] std::optional<std::string> cross_memory_refusal() const;

  // Called by all ranks alike; the figures of all pairs arrive at rank 0, nothing at the others. Throws
  // std::runtime_error when received data is wrong or a partner has gone, and what the library throws.
  std::optional<LimitFigures> measure(Op op, std::size_t bytes);

 private:
  // One entrant of the rounds. A further system, such as the library itself, is one more of these.
  struct Entrant {
    LoopKind kind;
    Buffers& buffers;
    std::function<PhaseResult()> phase;
    Series series;
    Idle idle;                    // of a raw loop
    std::function<void()> prove;  // of the library: prove_messages()
  };
  // What a round says about the machine.
  struct Floor {
    std::vector<double> probe_ns;
    std::vector<double> memcpy_gb_per_s;
  };

  Entrant make_entrant(LoopKind kind, Op op, const Plan& plan, Buffers& own, Buffers& arena);
  Entrant make_library(Op op, const Plan& plan, Buffers& buffers);
  template <typename System>
  std::function<PhaseResult()> phase_of(std::shared_ptr<System> system, Op op, const Plan& plan,
                                        Buffers& buffers);
  Floor run_rounds(Op op, std::vector<Entrant>& entrants);

  ProcessGroup& group_;
  const Options& options_;
  Idle idle_;
  Idle raw_idle_;
  ParleyWorld world_;
  Pair pair_;
  Waiting probe_waiting_;
  Waiting waiting_;
  Probe probe_;
  Gate gate_;
  Channel channel_;
  Turns turns_;
  int refusal_;  // the error of a cross-memory read; 0: none
};

}  // namespace parley::bench
