#include "tools/figures/markup.h"

#include <fmt/format.h>

namespace parley::figures {
namespace {

constexpr std::string_view ground = R"(
:root {
  color-scheme: light dark;
  --ground: #ffffff; --panel: #f7f7f5; --ink: #1b1d20; --soft: #5d636b; --line: #dcdfe3;
  --good: #00805c; --bad: #c22f2f; --link: #0068a8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #15171a; --panel: #1d2024; --ink: #e8e9eb; --soft: #a2a9b1; --line: #353a41;
    --good: #3cc79c; --bad: #ff7b72; --link: #5fb4ef;
  }
}
)";

constexpr std::string_view charts = R"(
.chart { font: 11px/1.2 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; }
.chart text { fill: var(--soft); }
.chart .label { fill: var(--own); font-weight: 600; font-size: 12px; }
.chart .caption { fill: var(--ink); font-weight: 600; font-size: 12px; }
.chart .grid { stroke: var(--line); stroke-width: 1; }
.chart .one { stroke: var(--ink); stroke-width: 1; }
.chart .frame { fill: none; stroke: var(--line); }
.chart .band { fill: var(--own); opacity: 0.13; stroke: none; }
.chart .curve { fill: none; stroke: var(--own); stroke-width: 1.6; stroke-linejoin: round; }
.chart .dot { fill: var(--own); stroke: var(--ground); stroke-width: 1; }
.chart .bar { stroke: var(--own); stroke-width: 1.6; }
.chart .leader { stroke: var(--own); stroke-width: 0.8; opacity: 0.6; fill: none; }
.chart .faster { fill: var(--good); opacity: 0.07; } .chart .slower { fill: var(--bad); opacity: 0.07; }
)";

constexpr std::string_view pages = R"(
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem clamp(0.75rem, 3vw, 3rem) 4rem; max-width: 100rem; background: var(--ground);
  color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.3rem; margin: 2.6rem 0 0.2rem; }
h3 { font-size: 1rem; margin: 0 0 0.4rem; } p { margin: 0.3rem 0; max-width: 75ch; }
a { color: var(--link); } .soft { color: var(--soft); }
nav a { margin-right: 1rem; white-space: nowrap; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 36rem), 1fr)); gap: 1.25rem;
  margin-top: 0.8rem; align-items: start; }
.case { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 0.9rem; min-width: 0; }
.case svg { display: block; width: 100%; height: auto; --ground: var(--panel); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 0.22rem 0.55rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { font-weight: 600; } th:first-child, td:first-child { text-align: left; }
td small, .soft small { color: var(--soft); }
th.system { color: var(--own); }
details { margin-top: 0.6rem; } summary { cursor: pointer; color: var(--soft); }
.remarks { margin: 0.6rem 0 0; padding-left: 1.2rem; font-size: 13px; color: var(--soft); overflow-wrap: anywhere; }
pre { overflow-x: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 0.7rem;
  font-size: 12px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1.2rem; margin: 0.6rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.matrix th, .matrix td { padding: 0.2rem 0.35rem; text-align: center; } .matrix :first-child { text-align: left; }
@media (max-width: 40rem) {
  .case svg { min-width: 30rem; }
  .matrix th:first-child, .matrix td:first-child { white-space: normal; min-width: 8rem; }
}
)";

}  // namespace

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    switch (letter) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += letter;
    }
  }
  return escaped;
}

std::string_view ground_style() {
  return ground;
}

std::string_view chart_style() {
  return charts;
}

std::string_view page_style() {
  return pages;
}

std::string page(std::string_view title, std::string_view styles, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
      "<title>{}</title>\n<style>{}{}{}{}</style></head>\n<body>{}</body></html>\n",
      escape(title), ground, charts, pages, styles, body);
}

}  // namespace parley::figures
