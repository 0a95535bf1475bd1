#include "tools/sim/colours.h"

#include <fmt/format.h>

#include <array>

namespace parley::sim {
namespace {

struct Colour {
  std::string_view light, dark;
};

// By algorithm. Those that are often beside each other differ most; kin have one hue.
constexpr std::array<Colour, 18> colours = {{
    {"#8c8c00", "#c9c94a"},  // linear
    {"#0068a8", "#5fb4ef"},  // ring
    {"#3a3fb5", "#9a9dff"},  // segmented_ring
    {"#c8500a", "#ff8d47"},  // recursive_doubling
    {"#00805c", "#3cc79c"},  // recursive_halving
    {"#00805c", "#3cc79c"},  // rabenseifner
    {"#8a6d00", "#dcbc4b"},  // binomial
    {"#3a3fb5", "#9a9dff"},  // chain
    {"#7a4b2a", "#c69772"},  // binary_tree
    {"#0068a8", "#5fb4ef"},  // scatter_ring
    {"#a84f86", "#e391c1"},  // bruck
    {"#6f3fa0", "#bb90ea"},  // pairwise
    {"#c8500a", "#ff8d47"},  // dissemination
    {"#c22f2f", "#ff7b72"},  // two_level
    {"#d0569c", "#ff9fd0"},  // two_level_sliced
    {"#00787f", "#4fc7ce"},  // flat
    {"#4f7d00", "#9ac84a"},  // slices
    {"#5a5a5a", "#b0b0b0"},  // rooted
}};

std::string rules(std::string_view Colour::*ground) {
  std::string css;
  for (const schedule::Algorithm algorithm : schedule::all_algorithms())
    css += fmt::format(".{} {{ --own: {}; }}\n", colour_class(algorithm),
                       colours[static_cast<std::size_t>(algorithm)].*ground);
  return css;
}

}  // namespace

std::string colour_class(schedule::Algorithm algorithm) {
  return "a-" + std::string(schedule::name(algorithm));
}

std::string colour_style() {
  return rules(&Colour::light) + ".a-bound { --own: var(--soft); }\n" +
         ".chart .a-bound .curve { stroke-dasharray: 5 4; }\n.chart .taken { stroke: var(--ink); "
         "stroke-width: 1.4; }\n" +
         "@media (prefers-color-scheme: dark) {\n" + rules(&Colour::dark) + "}\n";
}

}  // namespace parley::sim
