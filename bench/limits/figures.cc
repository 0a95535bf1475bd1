#include "bench/limits/figures.h"

#include <fmt/format.h>

#include "bench/side_by_side.h"

namespace parley::bench {
namespace {

bool serves(LoopKind kind, Placement placement) noexcept {
  if (is_library(kind)) return false;
  return placement == Placement::arena || placement_of(kind) == Placement::anywhere;
}

const char* mark(const LoopRow& loop) noexcept {
  if (loop.best_anywhere && loop.best_arena) return "best";
  if (loop.best_anywhere) return "best but arena";
  return loop.best_arena ? "best with arena" : "";
}

}  // namespace

std::string name_of(const LoopRow& loop) {
  return std::string(to_string(loop.kind)) + (loop.idle == Idle::look ? "+look" : "");
}

std::size_t best_loop(std::span<const LoopRow> loops, Placement placement) {
  std::size_t best = loops.size();
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (!serves(loops[i].kind, placement)) continue;
    if (best == loops.size() || loops[i].row.median_us < loops[best].row.median_us) best = i;
  }
  return best;
}

void judge(std::span<LoopRow> loops) {
  LoopRow& anywhere = loops[best_loop(loops, Placement::anywhere)];
  LoopRow& arena = loops[best_loop(loops, Placement::arena)];
  anywhere.best_anywhere = true;
  arena.best_arena = true;
  for (LoopRow& loop : loops) {
    compare_with_limit(loop.row, placement_of(loop.kind) == Placement::anywhere ? anywhere.row : arena.row);
  }
}

void judge_limits(std::span<LoopRow> loops, const Reference& reference) {
  const auto reason_of = [&](Placement placement) {
    return limit_void_reason(raw_figure_of(loops[best_loop(loops, placement)].row), reference);
  };
  const auto anywhere = reason_of(Placement::anywhere);
  const auto arena = reason_of(Placement::arena);
  for (LoopRow& loop : loops)
    loop.row.limit_void_reason = placement_of(loop.kind) == Placement::anywhere ? anywhere : arena;
}

std::string limits_header(Op op) {
  return side_by_side_header(op, "Loop", "x best", "mode");
}

std::string limits_lines(const LimitFigures& figures) {
  std::string text;
  std::vector<const Row*> rows;
  for (const LoopRow& loop : figures.loops) {
    text += side_by_side_line(loop.row, name_of(loop),
                              fmt::format("{:<8}{}", to_string(figures.mode), mark(loop)));
    rows.push_back(&loop.row);
  }
  return text + side_by_side_notes(rows);
}

}  // namespace parley::bench
