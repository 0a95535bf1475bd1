#include "bench/compare/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "bench/sizes.h"

namespace parley::bench::compare {
namespace {

// Of one setting; operations without sizes have none in their row.
struct Block {
  std::set<std::size_t> sizes;
  std::vector<const CaseView*> rows;
};

const Line* find(const CaseView& view, std::size_t bytes) {
  for (const Line* const line : view.lines)
    if (line->bytes == bytes) return line;
  return nullptr;
}

// Stands behind a ratio that a table's legend explains.
constexpr const char* mixed_mark = " ~";

bool has_cell(const Line* line) {
  return line != nullptr && !line->disturbed && line->to_peer;
}

bool is_marked(const Line* line) {
  return has_cell(line) && line->mode == Mode::mixed;
}

std::string cell_of(const Line* line) {
  if (!has_cell(line)) return "-";
  const Ratio& ratio = *line->to_peer;
  const char* const mark = is_marked(line) ? mixed_mark : "";
  if (!ratio.bounds) return fmt::format("{:.2f}, ?{}", ratio.value, mark);
  return fmt::format("{:.2f}, {:.2f}{}", ratio.value, ratio.bounds->hi, mark);
}

std::string row_of(const CaseView& view, const Block& block) {
  std::string text = fmt::format("| {} |", view.where.op);
  if (!operation(view.where.op).has_sizes) {
    text = fmt::format("| {}: {} |", view.where.op, cell_of(view.lines.front()));
    for (std::size_t i = 0; i < block.sizes.size(); ++i) text += " |";
    return text + '\n';
  }
  for (const std::size_t bytes : block.sizes) text += fmt::format(" {} |", cell_of(find(view, bytes)));
  return text + '\n';
}

std::string table_of(const std::string& setting, const Block& block) {
  std::string text = fmt::format("\n| {} |", setting);
  std::string rule = "|---|";
  for (const std::size_t bytes : block.sizes) {
    text += fmt::format(" {} |", format_size(bytes));
    rule += "---|";
  }
  text += '\n' + rule + '\n';
  for (const CaseView* const view : block.rows) text += row_of(*view, block);
  return text;
}

bool has_peer(const CaseView& view) {
  for (const Line* const line : view.lines)
    if (line->to_peer) return true;
  return false;
}

// One line, when a cell needs it.
std::string legend_of(const std::vector<CaseView>& views) {
  for (const CaseView& view : views)
    if (std::any_of(view.lines.begin(), view.lines.end(), is_marked))
      return "\n~ MIXED: the cores were near in some rounds and far in others; a ratio pairs rounds of one "
             "kind\n";
  return {};
}

}  // namespace

std::string summary_of(const Study& study) {
  const std::vector<CaseView> views = views_of(study);
  std::vector<std::string> settings;  // in order
  std::map<std::string, Block> blocks;
  for (const CaseView& view : views) {
    if (!has_peer(view)) continue;
    const std::string setting = setting_of(view.where);
    const auto [found, is_new] = blocks.try_emplace(setting);
    if (is_new) settings.push_back(setting);
    Block& block = found->second;
    block.rows.push_back(&view);
    if (!operation(view.where.op).has_sizes) continue;
    for (const Line* const line : view.lines) block.sizes.insert(line->bytes);
  }
  if (settings.empty()) return {};
  std::string text =
      "\n== Parley's time over the best peer's, and the upper end of its 95 % interval (below 1: Parley is "
      "faster)\n";
  for (const std::string& setting : settings) text += table_of(setting, blocks.at(setting));
  return text + legend_of(views);
}

}  // namespace parley::bench::compare
