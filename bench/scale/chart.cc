#include "bench/scale/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "bench/scale/promise.h"
#include "tools/figures/axis.h"
#include "tools/figures/markup.h"
#include "tools/figures/svg.h"

namespace parley::bench::scale {
namespace {

using figures::LogScale;
using figures::Range;

// Places in the drawing; units are those of its view box.
constexpr double width = 640;
constexpr figures::Box box{66, 26, 500, 276};
constexpr double height = 304;
constexpr int most_rank_ticks = 10;
constexpr int most_memory_ticks = 6;
constexpr int law_steps = 40;

constexpr std::string_view style = R"(
:root { --first: #c8500a; --second: #0068a8; }
@media (prefers-color-scheme: dark) { :root { --first: #ff8d47; --second: #5fb4ef; } }
.s-0 { --own: var(--first); } .s-1 { --own: var(--second); } .s-promise { --own: var(--soft); }
.chart .law { fill: none; stroke: var(--own); stroke-width: 1.2; stroke-dasharray: 6 4; }
.chart .s-promise .curve { stroke-width: 1; stroke-dasharray: 2 3; }
)";

const std::array<Panel, 8>& all_panels() {
  static const std::array<Panel, 8> all = {{
      {"start", "start of a world", {Quantity::start, Quantity::openmpi_start}},
      {"groups", "one new_group() of all ranks", {Quantity::groups}},
      {"store", "requests that the store answers", {Quantity::store}},
      {"memory", "memory of an idle rank", {Quantity::memory, Quantity::linked_memory}},
      {"descriptors",
       "open descriptors of an idle rank",
       {Quantity::descriptors, Quantity::linked_descriptors}},
      {"rate", "messages of 8 B, all pairs together", {Quantity::rate}},
      {"collectives", "one barrier, one all_reduce of 8 B", {Quantity::barrier, Quantity::all_reduce}},
      {"poll", "one look at the network when nothing comes", {Quantity::poll_one, Quantity::poll_all}},
  }};
  return all;
}

// As a person would write it, with its unit.
std::string value_text(Quantity quantity, double value) {
  const std::string_view unit = info(quantity).unit;
  if (unit == "ns") return figures::time_label(value / 1e3);
  if (unit == "us") return figures::time_label(value);
  if (unit == "ms") return figures::time_label(value * 1e3);
  if (unit == "KiB")
    return value < 1024 ? fmt::format("{:.3g} KiB", value) : fmt::format("{:.3g} MiB", value / 1024);
  if (info(quantity).is_rate) return figures::rate_label(value / 1e6);
  return fmt::format("{:.3g}", value);
}

class Chart {
 public:
  Chart(const Panel& panel, const Figures& all)
      : panel_(panel),
        all_(all),
        ranks_(rank_range()),
        x_(rank_scale(ranks_)),
        values_(value_range()),
        y_(values_.least, values_.most, box.bottom, box.top) {}

  [[nodiscard]] std::string draw() const {
    std::string svg = figures::text_at(box.left, box.top - 10, "start",
                                       fmt::format("{}, by the number of ranks", panel_.title), "caption");
    svg += grid() + figures::frame(box);
    std::vector<figures::Label> names;
    std::string points;
    for (std::size_t i = 0; i < panel_.quantities.size(); ++i) {
      const Quantity quantity = panel_.quantities[i];
      if (series(quantity).empty()) continue;
      const std::string kind = fmt::format("s-{}", i);
      svg += promise(quantity);
      points += fmt::format(R"(<g class="{}">{}{}</g>)", kind, law(quantity), curve(quantity));
      const auto& [last_ranks, last] = *series(quantity).rbegin();
      names.push_back({label_of(quantity), kind, x_(last_ranks), y_(last)});
    }
    return svg + points +
           figures::labels(std::move(names), {box.left, box.top + 6, box.right, box.bottom - 2});
  }

 private:
  [[nodiscard]] const Series& series(Quantity quantity) const {
    static const Series none;
    const auto found = all_.find(quantity);
    return found == all_.end() ? none : found->second;
  }

  [[nodiscard]] std::pair<int, int> rank_range() const {
    std::pair<int, int> range{0, 0};
    for (const Quantity quantity : panel_.quantities) {
      for (const auto& [ranks, value] : series(quantity)) {
        range.first = range.first == 0 ? ranks : std::min(range.first, ranks);
        range.second = std::max(range.second, ranks);
      }
    }
    return range;
  }
  static LogScale rank_scale(std::pair<int, int> ranks) {
    // A single number stands in the middle.
    return ranks.second > ranks.first ? LogScale(ranks.first, ranks.second, box.left + 10, box.right - 10)
                                      : LogScale(ranks.first / 2.0, ranks.first * 2.0, box.left, box.right);
  }
  [[nodiscard]] Range value_range() const {
    std::vector<double> values;
    for (const Quantity quantity : panel_.quantities) {
      for (const auto& [ranks, value] : series(quantity)) {
        values.push_back(value);
        if (const auto most = promised(quantity, ranks)) values.push_back(*most);
      }
    }
    return figures::range_of(values);
  }

  [[nodiscard]] std::vector<double> value_ticks() const {
    if (info(panel_.quantities.front()).unit != "KiB") return figures::decimal_ticks(values_);
    const auto powers = figures::power_ticks(static_cast<std::size_t>(values_.least),
                                             static_cast<std::size_t>(values_.most), most_memory_ticks);
    return {powers.begin(), powers.end()};
  }

  [[nodiscard]] std::string grid() const {
    std::string svg;
    for (const std::size_t tick :
         figures::power_ticks(static_cast<std::size_t>(ranks_.first), static_cast<std::size_t>(ranks_.second),
                              most_rank_ticks)) {
      const double place = x_(static_cast<double>(tick));
      svg += figures::line_at("grid", place, box.top, place, box.bottom);
      svg += figures::text_at(place, box.bottom + 15, "middle", fmt::format("{}", tick));
    }
    for (const double tick : value_ticks()) {
      svg += figures::line_at("grid", box.left, y_(tick), box.right, y_(tick));
      svg += figures::text_at(box.left - 6, y_(tick) + 4, "end", value_text(panel_.quantities.front(), tick));
    }
    return svg;
  }

  [[nodiscard]] std::string curve(Quantity quantity) const {
    std::string path;
    std::string dots;
    for (const auto& [ranks, value] : series(quantity)) {
      path += fmt::format("{:.1f},{:.1f} ", x_(ranks), y_(value));
      dots += fmt::format(R"(<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="3"><title>{}</title></circle>)",
                          x_(ranks), y_(value),
                          figures::escape(fmt::format("{}, {} ranks: {}", label_of(quantity), ranks,
                                                      value_text(quantity, value))));
    }
    return fmt::format(R"(<polyline class="curve" points="{}"/>{})", path, dots);
  }

  [[nodiscard]] std::string law(Quantity quantity) const {
    const auto growth = fit_growth(points_of(quantity, series(quantity)));
    if (!growth || !is_told(*growth)) return {};
    const double first = series(quantity).begin()->first, last = series(quantity).rbegin()->first;
    std::string path;
    for (int step = 0; step <= law_steps; ++step) {
      const double ranks = first * std::pow(last / first, static_cast<double>(step) / law_steps);
      const double value = value_of(quantity, cost_at(*growth, ranks));
      // Where it leaves the picture it says nothing that the points do not say better.
      if (value < values_.least || value > values_.most) continue;
      path += fmt::format("{:.1f},{:.1f} ", x_(ranks), y_(value));
    }
    return fmt::format(R"(<polyline class="law" points="{}"><title>{}</title></polyline>)", path,
                       figures::escape(describe(*growth)));
  }

  [[nodiscard]] std::string promise(Quantity quantity) const {
    std::string path;
    for (const auto& [ranks, value] : series(quantity))
      if (const auto most = promised(quantity, ranks))
        path += fmt::format("{:.1f},{:.1f} ", x_(ranks), y_(*most));
    if (path.empty()) return {};
    return fmt::format(
        R"(<g class="s-promise"><polyline class="curve" points="{}"><title>promised of {}</title></polyline></g>)",
        path, label_of(quantity));
  }

  static std::string label_of(Quantity quantity) { return std::string(info(quantity).label); }

  const Panel& panel_;
  const Figures& all_;
  std::pair<int, int> ranks_;
  LogScale x_;
  Range values_;
  LogScale y_;
};

}  // namespace

std::span<const Panel> panels() {
  return all_panels();
}

bool has_figures(const Panel& panel, const Figures& all) {
  return std::any_of(panel.quantities.begin(), panel.quantities.end(),
                     [&](Quantity one) { return all.contains(one); });
}

std::string chart_of(const Panel& panel, const Figures& all) {
  return figures::inline_drawing(width, height, panel.title, Chart(panel, all).draw());
}

std::string standalone_chart_of(const Panel& panel, const Figures& all) {
  return figures::drawing_file(width, height, panel.title, style, Chart(panel, all).draw());
}

std::string_view curve_style() {
  return style;
}

}  // namespace parley::bench::scale
