#include "bench/compare/text_table.h"

#include <fmt/format.h>

#include "bench/sizes.h"

namespace parley::bench::compare {
namespace {

constexpr int system_columns = 15;

std::string ascii_unit(Figure figure) {
  return figure == Figure::time ? "us" : std::string(unit_of(figure));
}

std::string cell_of(const Line& line, const std::string& system) {
  const Entry* const entry = line.find(system);
  if (entry == nullptr) return "-";
  if (!entry->has_figures()) return "void";
  const double value = figure_of(operation(line.where.op).figure, line.bytes, entry->median_us);
  return fmt::format("{} ({:.0f}%)", format_figure(value), 100 * spread_of(*entry));
}

std::string header_of(const CaseView& view) {
  std::string text = fmt::format("{:<8}", "Size");
  for (const std::string& system : view.systems) text += fmt::format("{:>{}}", system, system_columns);
  return text +
         fmt::format("{:>23} {:<13}{:>19}  {:<10}{:>8}\n", "x best peer", "", "x raw", "cores", "probe");
}

std::string line_of(const CaseView& view, const Line& line) {
  std::string text = fmt::format("{:<8}", operation(view.where.op).has_sizes ? format_size(line.bytes) : "-");
  for (const std::string& system : view.systems)
    text += fmt::format("{:>{}}", cell_of(line, system), system_columns);
  return text + fmt::format("{:>23} {:<13}{:>19}  {:<10}{:>5.0f} ns\n", format_ratio(line.to_peer),
                            line.best_peer.value_or(""), format_ratio(line.to_limit), state_of(line),
                            line.probe_ns);
}

std::string block_of(const CaseView& view) {
  std::string text = "\n" + setting_of(view.where) + "\n";
  if (!view.lines.empty()) text += header_of(view);
  for (const Line* line : view.lines) text += line_of(view, *line);
  for (const std::string& remark : remarks_of(view)) text += "# " + remark + "\n";
  return text;
}

}  // namespace

std::string format_ratio(const std::optional<Ratio>& ratio) {
  if (!ratio) return "-";
  if (!ratio->bounds) return fmt::format("{:.2f} [?]", ratio->value);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", ratio->value, ratio->bounds->lo, ratio->bounds->hi);
}

std::string tables_of(const Study& study) {
  std::string text;
  std::string op;
  for (const CaseView& view : views_of(study)) {
    if (view.where.op != op) {
      op = view.where.op;
      const Operation& what = operation(op);
      text += fmt::format("\n== {}: {}, {} (medians and spread of {} rounds; x: Parley's time over theirs)\n",
                          op, ascii_unit(what.figure), what.what, study.rounds);
    }
    text += block_of(view);
  }
  return text;
}

}  // namespace parley::bench::compare
