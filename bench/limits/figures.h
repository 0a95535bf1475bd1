#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/limits/limit_floor.h"
#include "bench/limits/loops.h"
#include "bench/probe.h"
#include "bench/raw_link.h"
#include "bench/row.h"

namespace parley::bench {

// What one loop reached.
struct LoopRow {
  LoopKind kind = LoopKind::cell;
  Row row;
  Idle idle = Idle::spin;
  bool best_anywhere = false;  // the fastest of those that serve buffers wherever they are
  bool best_arena = false;     // the fastest of all, for a program whose buffers lie in the arena
};

// As in tables and, with "raw " before it, as a row's system: "cell", "cell+look".
std::string name_of(const LoopRow& loop);

// The fastest loop that serves buffers of that placement, as an index: for Placement::arena each does.
// REQUIRES: one that serves.
std::size_t best_loop(std::span<const LoopRow> loops, Placement placement);

// Marks the best loops and compares each row with the best of its placement. REQUIRES: as best_loop() for
// Placement::anywhere; all of one subject.
void judge(std::span<LoopRow> loops);

// Says of each row whether the limit it was compared with is one. REQUIRES: judge() has been called.
void judge_limits(std::span<LoopRow> loops, const Reference& reference);

// All loops of one operation and size, from the same rounds.
struct LimitFigures {
  std::vector<LoopRow> loops;
  Mode mode = Mode::near;
};

// Two lines, and one line for each loop: columns that suit the operation.
std::string limits_header(Op op);
std::string limits_lines(const LimitFigures& figures);

}  // namespace parley::bench
