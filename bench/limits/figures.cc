#include "bench/limits/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "bench/series.h"
#include "bench/sizes.h"

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

// Latency in microseconds, else the rate that the operation is about.
double figure(const Row& row, double us) noexcept {
  if (!is_windowed(row.subject.op)) return us;
  return row.subject.op == Op::message_rate ? 1 / us : static_cast<double>(row.subject.bytes) / us;
}

std::string line(const LoopRow& loop, Mode mode) {
  const Row& row = loop.row;
  const bool is_rate = is_windowed(row.subject.op);
  const int digits = is_rate && row.subject.op != Op::message_rate ? 0 : 3;
  const double least = figure(row, is_rate ? row.hi_us : row.lo_us);
  const double most = figure(row, is_rate ? row.lo_us : row.hi_us);
  std::string text =
      fmt::format("{:<8}{:<22}{:>12.{}f}{:>12.{}f}{:>12.{}f}", format_size(row.subject.bytes), name_of(loop),
                  figure(row, row.median_us), digits, least, digits, most, digits);
  if (!is_rate) {
    const double missing = std::numeric_limits<double>::quiet_NaN();
    text += fmt::format("{:>12.3f}{:>12.3f}", row.p99_us.value_or(missing), row.p999_us.value_or(missing));
  }
  return text + fmt::format("{:>10.3f}{:>10.0f} {:<8}{}\n", row.ratio_to_limit.value(), row.probe_ns,
                            to_string(mode), mark(loop));
}

// The rounds, and so what was left out, are the same for all loops.
std::string disturbance_note(std::span<const LoopRow> loops) {
  double share = 1;
  for (const LoopRow& loop : loops) share = std::min(share, loop.row.core_share.value_or(1));
  if (share < undisturbed_share) {
    return fmt::format("# DISTURBED: a rank had its core for as little as {:.0f} %; do not use these lines\n",
                       share * 100);
  }
  const Row& row = loops.front().row;
  if (row.rounds_left_out == 0) return {};
  return fmt::format("# {} of {} rounds left out: something else used the core of a rank\n",
                     row.rounds_left_out, row.rounds + row.rounds_left_out);
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

std::string limits_header(Op op) {
  const std::string columns =
      fmt::format("{:<8}{:<22}{:>12}{:>12}{:>12}", "# Size", "Loop", "median", "min", "max");
  const std::string judgement = fmt::format("{:>10}{:>10} {}\n", "x best", "probe_ns", "mode");
  if (!is_windowed(op))
    return fmt::format("# {}: one way, microseconds\n", to_string(op)) + columns +
           fmt::format("{:>12}{:>12}", "p99", "p99.9") + judgement;
  if (op == Op::message_rate) {
    return "# message-rate: millions of messages a second, windows answered by a byte\n" + columns +
           judgement;
  }
  const bool is_one_way = operation(op).traffic == Traffic::windows;
  return fmt::format("# {}: MB/s (1e6 bytes), windows {}\n", to_string(op),
                     is_one_way ? "answered by a byte" : "both ways at once, both counted") +
         columns + judgement;
}

std::string limits_lines(const LimitFigures& figures) {
  std::string text;
  for (const LoopRow& loop : figures.loops) text += line(loop, figures.mode);
  text += disturbance_note(figures.loops);
  const Row& first = figures.loops.front().row;
  if (first.void_reason) text += "# VOID: " + *first.void_reason + "; do not use these lines\n";
  return text;
}

}  // namespace parley::bench
