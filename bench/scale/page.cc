#include "bench/scale/page.h"

#include <fmt/format.h>

#include "bench/compare/machine.h"
#include "bench/scale/chart.h"
#include "bench/scale/report.h"
#include "tools/figures/markup.h"

namespace parley::bench::scale {
namespace {

using figures::escape;

std::string header_of(const ScaleOptions& options, const Setting& setting) {
  return fmt::format(
      "<header><h1>Parley, the more ranks there are</h1><p class=\"soft\">{} to {} ranks, each a process, on "
      "{} "
      "cores, over {}; {}, {}</p></header>\n",
      options.ranks.front(), options.ranks.back(), setting.cores, options.transport,
      escape(compare::current_date()),
      options.rounds == 1 ? std::string("one round") : fmt::format("medians of {} rounds", options.rounds));
}

std::string verdicts(const Figures& all, const Setting& setting) {
  std::string text = verdicts_of(all);
  if (!setting.remark.empty()) text += setting.remark + '\n';
  return text.empty() ? "" : "<pre>" + escape(text) + "</pre>\n";
}

std::string section_of(const Panel& panel, const Figures& all) {
  std::string html = fmt::format(R"(<section class="case" id="{}"><div class="wide">{}</div>)", panel.slug,
                                 chart_of(panel, all));
  for (const Quantity quantity : panel.quantities) {
    const QuantityInfo& one = info(quantity);
    if (!all.contains(quantity)) continue;
    html +=
        fmt::format(R"(<p class="soft"><small>{}: {}</small></p>)", one.label, escape(law_text(one, all)));
  }
  return html + "</section>\n";
}

std::string sections_of(const Figures& all) {
  std::string html =
      "<p class=\"soft\">Dashed: the law by which the cost grows, where the points follow one. Dotted: the "
      "most that "
      "is promised.</p><div class=\"charts\">";
  for (const Panel& panel : panels())
    if (has_figures(panel, all)) html += section_of(panel, all);
  return html + "</div>\n";
}

std::string html_table_of(const ScaleOptions& options, const Figures& all) {
  std::string html = R"(<h2 id="figures">Figures</h2><div class="wide"><table><thead><tr><th>ranks</th>)";
  for (const QuantityInfo& one : quantities) {
    if (!all.contains(one.quantity)) continue;
    html += fmt::format("<th>{}{}</th>", one.name, one.unit.empty() ? "" : fmt::format(", {}", one.unit));
  }
  html += "</tr></thead><tbody>";
  for (const int ranks : options.ranks) {
    html += fmt::format("<tr><td>{}</td>", ranks);
    for (const QuantityInfo& one : quantities) {
      if (!all.contains(one.quantity)) continue;
      const auto value = figure(all, one.quantity, ranks);
      html += value ? fmt::format("<td>{:.{}f}</td>", *value, one.digits) : "<td>–</td>";
    }
    html += "</tr>";
  }
  return html + "</tbody></table></div>\n";
}

std::string appendix_of(const Setting& setting) {
  std::string html = R"(<h2 id="machine">Machine and command</h2><dl>)";
  for (const auto& [name, value] : compare::describe_machine())
    html += fmt::format("<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
  html += "</dl><pre>" + escape(setting.command) + "</pre>\n";
  return html +
         "<p class=\"soft\">All ranks share the machine's cores: what each of n ranks does for itself takes "
         "n times as "
         "long. <code>parley-bench scale --help</code> says what each figure is.</p>\n";
}

}  // namespace

std::string page_of(const ScaleOptions& options, const Figures& all, const Setting& setting) {
  return figures::page("Parley, the more ranks there are", curve_style(),
                       header_of(options, setting) + verdicts(all, setting) + sections_of(all) +
                           html_table_of(options, all) + appendix_of(setting));
}

}  // namespace parley::bench::scale
