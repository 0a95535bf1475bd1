#include "bench/limits/measure.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "bench/limits/figures.h"
#include "bench/limits/limits_session.h"
#include "bench/sizes.h"

namespace parley::bench {
namespace {

void report_figures(Report& report, const LimitFigures& figures) {
  report.print(limits_lines(figures));
  for (const LoopRow& loop : figures.loops) report.add_json(loop.row);
}

std::size_t largest_size(const Options& options) {
  std::size_t most = 0;
  for (const Op op : options.ops) {
    const std::vector<std::size_t> sizes = limit_sizes(options, op);
    most = std::max(most, *std::max_element(sizes.begin(), sizes.end()));
  }
  return most;
}

}  // namespace

std::vector<std::size_t> limit_sizes(const Options& options, Op op) {
  if (!options.sizes.empty()) return options.sizes;
  if (op == Op::message_rate) return parse_sizes("8");
  return parse_sizes(is_windowed(op) ? "1K,16K,64K,256K,1M,16M" : "8,1K,4K,16K,64K,1M,16M");
}

void measure_limits(ProcessGroup& group, const Options& options, Idle idle, Report* report) {
  LimitsSession session(group, options, idle, largest_size(options));
  const std::optional<std::string> refusal = session.cross_memory_refusal();
  if (report != nullptr && refusal) report->print("# cross-memory: skipped: " + *refusal + "\n");
  for (const Op op : options.ops) {
    if (report != nullptr) report->print(limits_header(op));
    for (const std::size_t bytes : limit_sizes(options, op)) {
      const std::optional<LimitFigures> figures = session.measure(op, bytes);
      if (figures) report_figures(*report, *figures);
    }
  }
}

}  // namespace parley::bench
