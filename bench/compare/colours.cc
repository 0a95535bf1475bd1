#include "bench/compare/colours.h"

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
  --parley: #c8500a; --openmpi: #0068a8; --mpich: #00805c; --gloo: #a84f86; --other: #8a6d00; --raw: #7b8189;
}
@media (prefers-color-scheme: dark) {
  :root {
    --parley: #ff8d47; --openmpi: #5fb4ef; --mpich: #3cc79c; --gloo: #e391c1; --other: #dcbc4b; --raw: #8d949d;
  }
}
.c-parley { --own: var(--parley); } .c-openmpi { --own: var(--openmpi); } .c-mpich { --own: var(--mpich); }
.c-gloo, .c-gloo-default { --own: var(--gloo); } .c-raw { --own: var(--raw); } .c-other { --own: var(--other); }
.chart .c-parley .curve { stroke-width: 2.8; }
.chart .c-raw .curve, .chart .c-gloo-default .curve { stroke-dasharray: 5 4; }
)";

}  // namespace

std::string colour_class(std::string_view system) {
  const bool is_known = std::find(coloured.begin(), coloured.end(), system) != coloured.end();
  return "c-" + std::string(is_known ? system : "other");
}

std::string_view colour_style() {
  return colours;
}

}  // namespace parley::bench::compare
