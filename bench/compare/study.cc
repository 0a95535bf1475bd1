#include "bench/compare/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/sizes.h"
#include "bench/statistics.h"

namespace parley::bench::compare {
namespace {

CaseView& view_for(std::vector<CaseView>& views, const Case& where) {
  const auto found =
      std::find_if(views.begin(), views.end(), [&](const CaseView& view) { return view.where == where; });
  if (found != views.end()) return *found;
  views.push_back({where, {}, {}, {}});
  return views.back();
}

void add_systems(CaseView& view, const Line& line) {
  for (const Entry& entry : line.entries) {
    if (std::find(view.systems.begin(), view.systems.end(), entry.system) == view.systems.end())
      view.systems.push_back(entry.system);
  }
}

std::string remark_of(const Note& note) {
  const std::string times = note.times > 1 ? fmt::format(" ({} times)", note.times) : "";
  const char* const what = note.is_unsupported ? "does not do this" : "failed";
  return fmt::format("{} {}{}: {}", note.contender, what, times, note.text);
}

bool is_clear(const Ratio& ratio, bool above) {
  return ratio.bounds && (above ? ratio.bounds->lo > 1 : ratio.bounds->hi < 1);
}

std::string interval_text(const Ratio& ratio) {
  if (!ratio.bounds) return {};
  return fmt::format(" [{:.2f}, {:.2f}]", ratio.bounds->lo, ratio.bounds->hi);
}

}  // namespace

std::vector<CaseView> views_of(const Study& study) {
  std::vector<CaseView> views;
  for (const Line& line : study.lines) {
    CaseView& view = view_for(views, line.where);
    view.lines.push_back(&line);
    add_systems(view, line);
  }
  for (const Note& note : study.notes) view_for(views, note.where).notes.push_back(&note);
  for (CaseView& view : views) {
    // The limit closes the line.
    std::stable_partition(view.systems.begin(), view.systems.end(),
                          [](const std::string& system) { return system != limit_name; });
  }
  const auto place = [](const CaseView& view) { return &operation(view.where.op); };
  std::stable_sort(views.begin(), views.end(),
                   [&](const CaseView& a, const CaseView& b) { return place(a) < place(b); });
  return views;
}

std::string state_of(const Line& line) {
  if (line.disturbed) return "DISTURBED";
  if (!line.mode) return line.probe_ns > 0 ? "shared" : "?";
  return *line.mode == Mode::mixed ? "MIXED" : to_string(*line.mode);
}

double spread_of(const Entry& entry) noexcept {
  return (entry.hi_us - entry.lo_us) / 2 / entry.median_us;
}

std::vector<std::string> remarks_of(const CaseView& view) {
  std::vector<std::string> remarks;
  for (const Note* note : view.notes) remarks.push_back(remark_of(*note));
  std::set<std::string> voids;
  int left_out = 0;
  int all = 0;
  for (const Line* line : view.lines) {
    for (const Entry& entry : line->entries) {
      if (entry.system == limit_name && entry.has_figures()) continue;
      left_out += entry.left_out;
      all += entry.left_out + static_cast<int>(entry.samples.size());
      if (entry.void_reason) voids.insert(entry.system + " is void: " + *entry.void_reason);
    }
  }
  remarks.insert(remarks.end(), voids.begin(), voids.end());
  if (left_out > 0)
    remarks.push_back(fmt::format(
        "{} of {} measurements left out: void, or something else used a rank's core", left_out, all));
  const auto disturbed =
      std::count_if(view.lines.begin(), view.lines.end(), [](const Line* line) { return line->disturbed; });
  if (disturbed > 0)
    remarks.push_back(fmt::format("DISTURBED, {}: something else used the cores; use no figure of these",
                                  counted(static_cast<std::size_t>(disturbed), "line")));
  const auto is_mixed = [](const Line* line) { return line->mode == Mode::mixed; };
  if (std::any_of(view.lines.begin(), view.lines.end(), is_mixed))
    remarks.emplace_back(
        "MIXED: the cores were near in some rounds and far in others; ratios pair rounds of one "
        "kind, medians do not");
  return remarks;
}

std::vector<const Line*> pointers_to(const std::vector<Line>& lines) {
  std::vector<const Line*> pointers;
  for (const Line& line : lines) pointers.push_back(&line);
  return pointers;
}

const std::optional<Ratio>& ratio_of(const Line& line, Against against) noexcept {
  return against == Against::best_peer ? line.to_peer : line.to_limit;
}

Verdict verdict_of(const std::vector<const Line*>& lines, Against against) {
  Verdict verdict;
  std::vector<double> ratios;
  for (const Line* line : lines) {
    const std::optional<Ratio>& ratio = ratio_of(*line, against);
    if (!ratio || line->disturbed) continue;
    ++verdict.lines;
    ratios.push_back(ratio->value);
    if (is_clear(*ratio, false)) ++verdict.faster;
    if (is_clear(*ratio, true)) ++verdict.slower;
    if (verdict.worst == nullptr || ratio->value > ratio_of(*verdict.worst, against)->value)
      verdict.worst = line;
  }
  if (!ratios.empty()) verdict.median = median(std::move(ratios));
  return verdict;
}

std::optional<std::string> verdict_text(const std::vector<const Line*>& lines, Against against) {
  const Verdict verdict = verdict_of(lines, against);
  if (verdict.lines == 0) return std::nullopt;
  const Line& worst = *verdict.worst;
  const Ratio& ratio = *ratio_of(worst, against);
  const bool is_peer = against == Against::best_peer;
  std::string text = fmt::format("{:.2f} times {} (median of {})", verdict.median,
                                 is_peer ? "the best peer's time" : "the raw limit's time",
                                 counted(static_cast<std::size_t>(verdict.lines), "line"));
  if (is_peer) text += fmt::format(", faster in {}, slower in {}", verdict.faster, verdict.slower);
  text += fmt::format("; most: {:.2f}{} at {}", ratio.value, interval_text(ratio), spell_size(worst.bytes));
  // Of several cases the place has to be named.
  if (lines.front()->where != lines.back()->where) text += " of " + title_of(worst.where);
  if (is_peer) text += " (" + *worst.best_peer + ")";
  return text;
}

}  // namespace parley::bench::compare
