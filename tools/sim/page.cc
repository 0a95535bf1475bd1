#include "tools/sim/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "tools/figures/markup.h"
#include "tools/sim/chart.h"
#include "tools/sim/colours.h"
#include "tools/sim/quantity.h"
#include "tools/sim/table.h"

namespace parley::sim {
namespace {

using figures::escape;

constexpr std::string_view map_style = R"(
.map td { text-align: center; min-width: 3.4rem; background: color-mix(in srgb, var(--own, var(--ground)) 26%, var(--ground)); }
.map th { text-align: center; } .map th:first-child { text-align: left; }
.key { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; font-size: 13px; margin: 0.5rem 0; }
.key span::before { content: ""; display: inline-block; width: 0.8em; height: 0.8em; margin-right: 0.4em;
  border-radius: 2px; background: var(--own); }
.g0 { --own: var(--good); } .g1 { --own: var(--ground); } .g2 { --own: #e0a100; } .g3 { --own: var(--bad); }
.fig td:nth-child(n+3) { text-align: left; }
)";

struct Cell {
  std::string kind;
  std::string text;
  std::string hint;
};

// A row for each number of ranks, a column for each size.
template <typename CellOf>
std::string map_of(const Study& study, CellOf cell_of) {
  std::string html = R"(<div class="wide"><table class="map"><thead><tr><th>ranks</th>)";
  const std::span<const Contest> first = by_ranks(study).front();
  for (const Contest& contest : first) html += "<th>" + format_bytes(contest.call.bytes) + "</th>";
  html += "</tr></thead><tbody>";
  for (const auto& contests : by_ranks(study)) {
    html += fmt::format(R"(<tr><th><a href="#r{0}">{0}</a></th>)", contests.front().network.ranks);
    for (const Contest& contest : contests) {
      const Cell cell = cell_of(contest);
      html += fmt::format(R"(<td class="{}" title="{}">{}</td>)", cell.kind, escape(cell.hint),
                          escape(cell.text));
    }
    html += "</tr>";
  }
  return html + "</tbody></table></div>\n";
}

std::string where_text(const Contest& contest) {
  return fmt::format("{} ranks, {}", contest.network.ranks, format_bytes(contest.call.bytes));
}

Cell fastest_cell(const Contest& contest) {
  const Entrant& first = contest.fastest();
  return {colour_class(first.candidate.algorithm), fmt::format("{:.2f}", first.figure.ns / contest.bound_ns),
          fmt::format("{}: {}, {}; bound {}", where_text(contest),
                      algorithm_text(first.candidate, contest.call.element_bytes), figure_text(first.figure),
                      format_ns(contest.bound_ns))};
}

Cell choice_cell(const Contest& contest) {
  const double times = contest.taken().figure.ns / contest.fastest().figure.ns;
  const char* const kind = times < 1.05 ? "g0" : times < 1.25 ? "g1" : times < 2 ? "g2" : "g3";
  return {kind, fmt::format("{:.2f}", times),
          fmt::format("{}: {}, {}; fastest {}, {}", where_text(contest),
                      algorithm_text(contest.taken().candidate, contest.call.element_bytes),
                      figure_text(contest.taken().figure),
                      algorithm_text(contest.fastest().candidate, contest.call.element_bytes),
                      figure_text(contest.fastest().figure))};
}

std::string key_of(const Study& study) {
  std::set<schedule::Algorithm> winners;
  for (const Contest& contest : study.contests) winners.insert(contest.fastest().candidate.algorithm);
  std::string html = R"(<p class="key">)";
  for (const schedule::Algorithm algorithm : winners)
    html += fmt::format(R"(<span class="{}">{}</span>)", colour_class(algorithm), schedule::name(algorithm));
  return html + "</p>\n";
}

std::string maps_of(const Study& study) {
  return "<h2 id=\"fastest\">The fastest algorithm</h2><p class=\"soft\">Its time over the bound. 1 cannot "
         "be beaten; "
         "the colour says which.</p>" +
         key_of(study) + map_of(study, fastest_cell) +
         "<h2 id=\"choice\">What the library takes</h2><p class=\"soft\">Its time over that of the fastest. "
         "Green: within "
         "5 %, yellow: 1.25 times or more, red: 2 times or more.</p>" +
         map_of(study, choice_cell);
}

std::string figures_of(std::span<const Contest> contests, const Study& study) {
  std::string html = R"(<div class="wide"><table class="fig"><thead><tr><th>size</th><th>bound</th>)";
  html += "<th>library takes</th><th>fastest, and all others</th>";
  if (study.options.trouble.has_stragglers()) html += "<th>with stragglers</th>";
  if (study.options.trouble.lost_host) html += "<th>a host lost</th>";
  html += "</tr></thead><tbody>";
  for (const Contest& contest : contests) {
    const auto text = [&](const Entrant& one) {
      return fmt::format("{} <small>{}</small>", escape(figure_text(one.figure)),
                         algorithm_text(one.candidate, contest.call.element_bytes));
    };
    std::string all;
    for (const Entrant& one : contest.entrants) all += (all.empty() ? "" : ", ") + text(one);
    html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td>", format_bytes(contest.call.bytes),
                        format_ns(contest.bound_ns), text(contest.taken()), all);
    if (const auto& slowed = contest.taken().slowed)
      html += fmt::format("<td>{}</td>", escape(figure_text(*slowed)));
    if (contest.remainder) html += "<td>" + text(contest.remainder->chosen) + "</td>";
    html += "</tr>";
  }
  return html + "</tbody></table></div>";
}

std::string range_text(const std::string& first, const std::string& last) {
  return first == last ? first : first + " to " + last;
}

std::string sections_of(const Study& study) {
  std::string html =
      "<h2 id=\"charts\">Times</h2><p class=\"soft\">A ring marks what the library takes; what is 300 times "
      "as slow as the fastest is not shown. Where a curve jumps up, what the algorithm promises has "
      "taken the place of its time: a bound from above, marked &lt; in the figures.</p><div "
      "class=\"charts\">";
  for (const auto& contests : by_ranks(study)) {
    const Network& network = contests.front().network;
    html += fmt::format(R"(<section class="case" id="r{}"><h3>{}</h3><div class="wide">{}</div>)",
                        network.ranks, escape(network_text(network)), chart_of(contests));
    html += "<p class=\"soft\"><small>Fastest: " + escape(winners_text(contests)) + "</small></p>";
    if (const auto& remainder = contests.front().remainder)
      html += fmt::format("<p class=\"soft\"><small>Host {} lost: {} ranks on {} host{} remain.</small></p>",
                          *study.options.trouble.lost_host, remainder->ranks, remainder->hosts,
                          remainder->hosts == 1 ? "" : "s");
    html += "<details><summary>Figures</summary>" + figures_of(contests, study) + "</details></section>\n";
  }
  return html + "</div>\n";
}

std::string calibration_of(const Calibration& calibration) {
  std::string html = fmt::format(
      "<h2 id=\"calibration\">Calibration</h2><p>The model's error on {} measured rows: median {:.1f} %, "
      "largest {:.1f} "
      "%.</p><details><summary>Rows</summary><div "
      "class=\"wide\"><table><thead><tr><th>operation</th><th>link</th>"
      "<th>ranks</th><th>size</th><th>measured</th><th>predicted</th><th>error</th></tr></thead><tbody>",
      calibration.checks.size(), 100 * calibration.median_error, 100 * calibration.worst_error);
  for (const auto& check : calibration.checks)
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:+.1f} %</td></tr>",
        escape(check.row.op), check.row.is_shared ? "shm" : "tcp", check.row.ranks,
        format_bytes(check.row.bytes), format_ns(check.row.ns), format_ns(check.predicted_ns),
        100 * check.error());
  return html + "</tbody></table></div></details>\n";
}

}  // namespace

std::string page_of(const Study& study) {
  const std::string_view operation = schedule::name(study.options.operation);
  const Contest &first = study.contests.front(), &last = study.contests.back();
  std::string body = fmt::format(
      R"(<header><h1>{} by Parley's schedules, costed</h1><p class="soft">{} ranks, {}</p>)", operation,
      range_text(std::to_string(first.network.ranks), std::to_string(last.network.ranks)),
      range_text(format_bytes(first.call.bytes), format_bytes(last.call.bytes)));
  if (study.options.trouble.has_stragglers())
    body += "<p>Stragglers: " + escape(describe_stragglers(study.options.trouble)) + ".</p>";
  body += R"(<nav><a href="#fastest">fastest</a> <a href="#choice">choice</a> <a href="#charts">times</a> )";
  body += R"(<a href="#model">model</a></nav></header>)";
  body += maps_of(study) + sections_of(study);
  if (study.calibration) body += calibration_of(*study.calibration);
  body += "<h2 id=\"model\">Model and command</h2><pre>" + escape(model_text(study.model)) + "\n" +
          escape(study.options.command) + "</pre>\n";
  body +=
      "<p class=\"soft\">The bound is the largest of LogP's optimal broadcast time and of what a rank, a "
      "host's rails "
      "or a rack's uplink has to move at least (Karp et al. 1993, Chan et al. 2007): no schedule beats it. " +
      escape(marks_text(study)) + "</p>\n";
  return figures::page(fmt::format("Parley: {} costed", operation), colour_style() + std::string(map_style),
                       body);
}

}  // namespace parley::sim
