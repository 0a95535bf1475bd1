#include "bench/compare/markup.h"

#include <algorithm>
#include <array>

namespace parley::bench::compare {
namespace {

// Those with a colour of their own; others share one.
constexpr std::array<std::string_view, 6> coloured = {"parley", "openmpi", "mpich",
                                                      "gloo",   "raw",     "gloo-default"};

// Okabe and Ito's palette, which the colour-blind can tell apart; lighter on dark ground.
constexpr std::string_view colours = R"(
:root {
  color-scheme: light dark;
  --ground: #ffffff; --panel: #f7f7f5; --ink: #1b1d20; --soft: #5d636b; --line: #dcdfe3;
  --parley: #c8500a; --openmpi: #0068a8; --mpich: #00805c; --gloo: #a84f86; --other: #8a6d00; --raw: #7b8189;
  --good: #00805c; --bad: #c22f2f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #15171a; --panel: #1d2024; --ink: #e8e9eb; --soft: #a2a9b1; --line: #353a41;
    --parley: #ff8d47; --openmpi: #5fb4ef; --mpich: #3cc79c; --gloo: #e391c1; --other: #dcbc4b; --raw: #8d949d;
    --good: #3cc79c; --bad: #ff7b72;
  }
}
.c-parley { --own: var(--parley); } .c-openmpi { --own: var(--openmpi); } .c-mpich { --own: var(--mpich); }
.c-gloo, .c-gloo-default { --own: var(--gloo); } .c-raw { --own: var(--raw); } .c-other { --own: var(--other); }
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
.chart .c-parley .curve { stroke-width: 2.8; }
.chart .c-raw .curve, .chart .c-gloo-default .curve { stroke-dasharray: 5 4; }
.chart .dot { fill: var(--own); stroke: var(--ground); stroke-width: 1; }
.chart .bar { stroke: var(--own); stroke-width: 1.6; }
.chart .leader { stroke: var(--own); stroke-width: 0.8; opacity: 0.6; fill: none; }
.chart .faster { fill: var(--good); opacity: 0.07; } .chart .slower { fill: var(--bad); opacity: 0.07; }
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

std::string colour_class(std::string_view system) {
  const bool is_known = std::find(coloured.begin(), coloured.end(), system) != coloured.end();
  return "c-" + std::string(is_known ? system : "other");
}

std::string_view colour_style() {
  return colours;
}

std::string_view chart_style() {
  return charts;
}

}  // namespace parley::bench::compare
