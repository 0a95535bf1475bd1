#include "bench/scale/promise.h"

#include <fmt/format.h>

namespace parley::bench::scale {

std::optional<double> promised(Quantity quantity, int ranks) noexcept {
  switch (quantity) {
    case Quantity::memory: return 1024 + 2.0 * ranks;
    case Quantity::descriptors: return 32;
    case Quantity::linked_memory: return 1024 + 80.0 * ranks;
    case Quantity::linked_descriptors: return 32 + 3.0 * ranks;
    default: return std::nullopt;
  }
}

std::vector<std::string> breaches_of(const Figures& figures) {
  std::vector<std::string> lines;
  for (const auto& [quantity, series] : figures) {
    for (const auto& [ranks, value] : series) {
      const auto most = promised(quantity, ranks);
      if (!most || value <= *most) continue;
      lines.push_back(fmt::format("{} of a rank among {}: {:.0f} {}, and {:.0f} is promised",
                                  info(quantity).name, ranks, value, info(quantity).unit, *most));
    }
  }
  return lines;
}

}  // namespace parley::bench::scale
