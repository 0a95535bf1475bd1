#include "bench/compare/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/compare/chart.h"
#include "bench/compare/colours.h"
#include "bench/compare/progress.h"
#include "bench/compare/text_table.h"
#include "bench/sizes.h"
#include "tools/figures/markup.h"

namespace parley::bench::compare {
namespace {

using figures::escape;

constexpr std::string_view matrix_style = R"(
.matrix .m0 { background: color-mix(in srgb, var(--good) 45%, var(--ground)); }
.matrix .m1 { background: color-mix(in srgb, var(--good) 20%, var(--ground)); }
.matrix .m3 { background: color-mix(in srgb, var(--bad) 20%, var(--ground)); }
.matrix .m4 { background: color-mix(in srgb, var(--bad) 45%, var(--ground)); }
.matrix .l0 { background: color-mix(in srgb, var(--openmpi) 8%, var(--ground)); }
.matrix .l1 { background: color-mix(in srgb, var(--openmpi) 18%, var(--ground)); }
.matrix .l2 { background: color-mix(in srgb, var(--openmpi) 30%, var(--ground)); }
.matrix .l3 { background: color-mix(in srgb, var(--openmpi) 44%, var(--ground)); }
.doubt { opacity: 0.55; font-style: italic; }
)";

// How a ratio to a peer looks: the interval decides, so that what may be noise has no colour.
const char* peer_class(const Ratio& ratio) {
  if (!ratio.bounds) return "m2";
  const auto [lo, hi] = *ratio.bounds;
  if (hi < 0.8) return "m0";
  if (hi < 1) return "m1";
  if (lo > 1.25) return "m4";
  return lo > 1 ? "m3" : "m2";
}

const char* limit_class(const Ratio& ratio) {
  if (ratio.value < 1.2) return "l0";
  if (ratio.value < 2) return "l1";
  return ratio.value < 4 ? "l2" : "l3";
}

bool is_doubtful(const Line& line) {
  return line.disturbed || line.mode == Mode::mixed;
}

std::string matrix_cell(const Line* line, Against against) {
  const std::optional<Ratio> none;
  const std::optional<Ratio>& ratio = line == nullptr ? none : ratio_of(*line, against);
  if (!ratio) return "<td>–</td>";
  const bool is_peer = against == Against::best_peer;
  const std::string hint = fmt::format("{}, {}: {}{}", title_of(line->where), spell_size(line->bytes),
                                       format_ratio(ratio), is_peer ? " times " + *line->best_peer : "");
  return fmt::format(R"(<td class="{}{}" title="{}">{:.2f}</td>)",
                     is_peer ? peer_class(*ratio) : limit_class(*ratio), is_doubtful(*line) ? " doubt" : "",
                     escape(hint), ratio->value);
}

// Ratios of all cases at a glance: a row for each, a column for each size.
std::string matrix_of(const std::vector<CaseView>& views, const Study& study, Against against) {
  std::set<std::size_t> sizes;
  bool has_any = false;
  for (const Line& line : study.lines) {
    sizes.insert(line.bytes);
    has_any = has_any || ratio_of(line, against);
  }
  if (!has_any) return {};
  const bool is_peer = against == Against::best_peer;
  std::string html =
      is_peer ? "<h2>Parley's time over the best peer's</h2><p class=\"soft\">Green: faster, red: "
                "slower, with all of the 95 % interval; none: within it. Italic: cores mixed or "
                "disturbed.</p>"
              : "<h2>Parley's time over the raw limit's</h2><p class=\"soft\">1 is what the machine "
                "allows without a library; a stronger colour is further away.</p>";
  html += R"(<div class="wide"><table class="matrix"><thead><tr><th>case</th>)";
  for (const std::size_t bytes : sizes) html += "<th>" + format_size(bytes) + "</th>";
  html += "</tr></thead><tbody>";
  for (const CaseView& view : views) {
    if (view.lines.empty()) continue;
    html += fmt::format(R"(<tr><td><a href="#{}">{}</a></td>)", slug_of(view.where),
                        escape(title_of(view.where)));
    for (const std::size_t bytes : sizes) {
      const auto line = std::find_if(view.lines.begin(), view.lines.end(),
                                     [bytes](const Line* one) { return one->bytes == bytes; });
      html += matrix_cell(line == view.lines.end() ? nullptr : *line, against);
    }
    html += "</tr>";
  }
  return html + "</tbody></table></div>\n";
}

std::string figure_cell(const Line& line, const std::string& system) {
  const Entry* const entry = line.find(system);
  if (entry == nullptr) return "<td>–</td>";
  if (!entry->has_figures()) return "<td>void</td>";
  const double value = figure_of(operation(line.where.op).figure, line.bytes, entry->median_us);
  return fmt::format("<td>{} <small>±{:.0f}%</small></td>", format_figure(value), 100 * spread_of(*entry));
}

std::string table_of(const CaseView& view) {
  std::string html = R"(<div class="wide"><table><thead><tr><th>bytes</th>)";
  for (const std::string& system : view.systems)
    html += fmt::format(R"(<th class="system {}">{}</th>)", colour_class(system), escape(system));
  html += "<th>× best peer</th><th>× raw</th><th>cores</th><th>probe</th></tr></thead><tbody>";
  for (const Line* line : view.lines) {
    html += "<tr><td>" + (operation(view.where.op).has_sizes ? format_size(line->bytes) : "–") + "</td>";
    for (const std::string& system : view.systems) html += figure_cell(*line, system);
    const std::string peer = line->best_peer.value_or("");
    html += fmt::format("<td>{} <small>{}</small></td><td>{}</td><td>{}</td><td>{:.0f} ns</td></tr>",
                        format_ratio(line->to_peer), escape(peer), format_ratio(line->to_limit),
                        state_of(*line), line->probe_ns);
  }
  return html + "</tbody></table></div>";
}

std::string section_of(const CaseView& view) {
  std::string html = fmt::format(R"(<section class="case" id="{}"><h3>{}</h3>)", slug_of(view.where),
                                 escape(setting_of(view.where)));
  html += R"(<div class="wide">)" + chart_of(view) + "</div>";
  for (const Against against : {Against::best_peer, Against::raw_limit}) {
    if (const auto text = verdict_text(view.lines, against))
      html += fmt::format(R"(<p class="soft"><small>{}</small></p>)", escape(*text));
  }
  const std::vector<std::string> remarks = remarks_of(view);
  if (!remarks.empty()) {
    html += R"(<ul class="remarks">)";
    for (const std::string& remark : remarks) html += "<li>" + escape(remark) + "</li>";
    html += "</ul>";
  }
  if (!view.lines.empty()) html += "<details><summary>Figures</summary>" + table_of(view) + "</details>";
  return html + "</section>\n";
}

std::string sections_of(const std::vector<CaseView>& views) {
  std::string html;
  std::string op;
  for (const CaseView& view : views) {
    if (view.where.op != op) {
      if (!op.empty()) html += "</div>\n";
      op = view.where.op;
      html += fmt::format(R"(<h2 id="{0}">{0}</h2><p class="soft">{1}, {2}</p><div class="charts">)", op,
                          operation(op).what, unit_of(operation(op).figure));
    }
    html += section_of(view);
  }
  return html + (op.empty() ? "" : "</div>\n");
}

std::string facts_of(const Facts& facts) {
  std::string html;
  for (const auto& [name, value] : facts)
    html += fmt::format("<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
  return html;
}

std::string header_of(const Study& study, const std::vector<CaseView>& views) {
  std::string html = fmt::format(R"(<header><h1>Parley compared</h1><p class="soft">{}, {} rounds in {}</p>)",
                                 escape(study.date), study.rounds, format_duration(study.seconds));
  const std::vector<const Line*> lines = pointers_to(study.lines);
  for (const Against against : {Against::best_peer, Against::raw_limit}) {
    if (const auto text = verdict_text(lines, against)) html += "<p>" + escape(*text) + "</p>";
  }
  html += "<nav>";
  std::string op;
  for (const CaseView& view : views) {
    if (view.where.op == op) continue;
    op = view.where.op;
    html += fmt::format(R"(<a href="#{0}">{0}</a> )", op);
  }
  return html + R"(<a href="#machine">machine</a> <a href="#commands">commands</a></nav></header>)" + "\n";
}

std::string appendix_of(const Study& study) {
  std::string html =
      R"(<h2 id="machine">Machine</h2><dl>)" + facts_of(study.machine) + facts_of(study.versions) + "</dl>\n";
  html += R"(<h2 id="commands">Commands</h2><pre>)" + escape(study.command) + "</pre>";
  html +=
      fmt::format("<details><summary>What each system was started with, once in every round{}</summary><pre>",
                  study.is_shortened ? ", later with fewer or shorter rounds of its own" : "");
  for (const std::string& child : study.children) html += escape(child) + "\n";
  html += "</pre></details>\n";
  html +=
      "<h2>How to read this</h2><p>All systems ran in turns, another one first in each round. A curve is the "
      "median over the rounds, its band reaches from the best to the worst round. Ratios are of times, "
      "paired "
      "round by round; intervals hold 95 % (bootstrap of the median). “near” and “far” tell how long a flag "
      "took between the two cores when the line was measured; only rounds of one kind are paired. With more "
      "ranks than cores (“shared”) that is not told apart. “raw” is the fastest loop without a library in "
      "the same "
      "processes.</p>\n";
  return html;
}

}  // namespace

std::string page_of(const Study& study) {
  const std::vector<CaseView> views = views_of(study);
  const std::string body = header_of(study, views) + matrix_of(views, study, Against::best_peer) +
                           matrix_of(views, study, Against::raw_limit) + sections_of(views) +
                           appendix_of(study);
  return figures::page("Parley compared", std::string(colour_style()) + std::string(matrix_style), body);
}

}  // namespace parley::bench::compare
