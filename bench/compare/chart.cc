#include "bench/compare/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/compare/colours.h"
#include "bench/compare/text_table.h"
#include "bench/sizes.h"
#include "tools/figures/axis.h"
#include "tools/figures/markup.h"
#include "tools/figures/svg.h"

namespace parley::bench::compare {
namespace {

// Places in the drawing; units are those of its view box.
constexpr double width = 640;
constexpr double left = 62;
constexpr double right = 536;
constexpr double top = 26;
constexpr double bottom = 276;
constexpr double ratio_top = 322;
constexpr double ratio_bottom = 418;
constexpr double height = 444;
constexpr int most_power_ticks = 8;

using figures::escape;
using figures::Label;
using figures::line_at;
using figures::LogScale;
using figures::Range;
using figures::text_at;

struct Point {
  std::size_t bytes;
  const Line* line;
  const Entry* entry;
};

std::vector<Point> points_of(const CaseView& view, const std::string& system) {
  std::vector<Point> points;
  for (const Line* line : view.lines) {
    const Entry* const entry = line->find(system);
    if (entry != nullptr && entry->has_figures()) points.push_back({line->bytes, line, entry});
  }
  return points;
}

double figure(const Point& point, double us) {
  return figure_of(operation(point.line->where.op).figure, point.bytes, us);
}

LogScale byte_scale(const CaseView& view) {
  const double least = static_cast<double>(std::max<std::size_t>(view.lines.front()->bytes, 1));
  const double most = static_cast<double>(view.lines.back()->bytes);
  // A single size stands in the middle.
  return most > least ? LogScale(least, most, left + 10, right - 10)
                      : LogScale(least / 2, least * 2, left, right);
}

std::string byte_axis(const CaseView& view, const LogScale& x, double from, double to, bool has_labels) {
  std::string svg;
  for (const std::size_t tick :
       figures::power_ticks(view.lines.front()->bytes, view.lines.back()->bytes, most_power_ticks)) {
    const double place = x(static_cast<double>(tick));
    svg += line_at("grid", place, from, place, to);
    if (has_labels) svg += text_at(place, to + 15, "middle", format_size(tick));
  }
  return svg;
}

std::string hint_of(const Point& point) {
  const Figure kind = operation(point.line->where.op).figure;
  return fmt::format("{}, {}: {} {}, extremes {} and {}, {} rounds", point.entry->system,
                     spell_size(point.bytes), format_figure(figure(point, point.entry->median_us)),
                     unit_of(kind), format_figure(figure(point, point.entry->lo_us)),
                     format_figure(figure(point, point.entry->hi_us)), point.entry->samples.size());
}

std::string curve(const std::vector<Point>& points, const LogScale& x, const LogScale& y) {
  std::string path;
  std::string upper;
  std::string lower;
  std::string dots;
  for (const Point& point : points) {
    const double at = x(static_cast<double>(std::max<std::size_t>(point.bytes, 1)));
    const double middle = y(figure(point, point.entry->median_us));
    path += fmt::format("{:.1f},{:.1f} ", at, middle);
    upper += fmt::format("{:.1f},{:.1f} ", at, y(figure(point, point.entry->lo_us)));
    lower = fmt::format("{:.1f},{:.1f} ", at, y(figure(point, point.entry->hi_us))) + lower;
    dots += fmt::format(R"(<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="{}"><title>{}</title></circle>)",
                        at, middle, point.entry->system == library_name ? 3.4 : 2.6, escape(hint_of(point)));
  }
  std::string svg = fmt::format(R"(<g class="{}">)", colour_class(points.front().entry->system));
  svg += fmt::format(R"(<polygon class="band" points="{}{}"/>)", upper, lower);
  svg += fmt::format(R"(<polyline class="curve" points="{}"/>)", path);
  return svg + dots + "</g>";
}

std::string figures_plot(const CaseView& view, const LogScale& x) {
  const Figure kind = operation(view.where.op).figure;
  std::vector<double> values;
  for (const std::string& system : view.systems) {
    for (const Point& point : points_of(view, system)) {
      values.push_back(figure(point, point.entry->lo_us));
      values.push_back(figure(point, point.entry->hi_us));
    }
  }
  const Range range = figures::range_of(values);
  const LogScale y(range.least, range.most, bottom, top);
  std::string svg =
      text_at(left, top - 10, "start", fmt::format("{} ({})", view.where.op, unit_of(kind)), "caption");
  svg += byte_axis(view, x, top, bottom, true);
  for (const double tick : figures::decimal_ticks(range)) {
    svg += line_at("grid", left, y(tick), right, y(tick));
    svg += text_at(left - 6, y(tick) + 4, "end", tick_label(kind, tick));
  }
  svg += figures::frame({left, top, right, bottom});
  std::vector<Label> names;
  std::string own;
  for (const std::string& system : view.systems) {
    const std::vector<Point> points = points_of(view, system);
    if (points.empty()) continue;
    // The library's curve lies above the others.
    (system == library_name ? own : svg) += curve(points, x, y);
    const Point& last = points.back();
    names.push_back({system, colour_class(system),
                     x(static_cast<double>(std::max<std::size_t>(last.bytes, 1))),
                     y(figure(last, last.entry->median_us))});
  }
  return svg + own + figures::labels(std::move(names), {left, top + 6, right, bottom - 2});
}

std::string ratio_series(const CaseView& view, Against against, const LogScale& x, const LogScale& y,
                         double shift, std::vector<Label>& names) {
  const bool is_peer = against == Against::best_peer;
  const std::string kind = colour_class(is_peer ? library_name : limit_name);
  std::string path;
  std::string marks;
  Label name{is_peer ? "x best peer" : "x raw", kind, 0, 0};
  for (const Line* line : view.lines) {
    const std::optional<Ratio>& ratio = ratio_of(*line, against);
    if (!ratio) continue;
    const double at = x(static_cast<double>(std::max<std::size_t>(line->bytes, 1))) + shift;
    if (ratio->bounds) marks += line_at("bar", at, y(ratio->bounds->lo), at, y(ratio->bounds->hi));
    const std::string other = is_peer ? *line->best_peer : "the raw limit";
    marks += fmt::format(
        R"(<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="3"><title>{}</title></circle>)", at,
        y(ratio->value),
        escape(fmt::format("{}: {} times {}", spell_size(line->bytes), format_ratio(ratio), other)));
    path += fmt::format("{:.1f},{:.1f} ", at, y(ratio->value));
    name.x = at;
    name.y = y(ratio->value);
  }
  if (path.empty()) return {};
  names.push_back(name);
  return fmt::format(R"(<g class="{}"><polyline class="curve" style="stroke-width:1" points="{}"/>{}</g>)",
                     kind, path, marks);
}

std::string ratio_plot(const CaseView& view, const LogScale& x) {
  std::vector<double> values{1};
  for (const Line* line : view.lines) {
    for (const Against against : {Against::best_peer, Against::raw_limit}) {
      const std::optional<Ratio>& ratio = ratio_of(*line, against);
      if (!ratio) continue;
      values.push_back(ratio->bounds ? ratio->bounds->lo : ratio->value);
      values.push_back(ratio->bounds ? ratio->bounds->hi : ratio->value);
    }
  }
  if (values.size() == 1) return {};
  Range range = figures::range_of(values, 1.1);
  range = {std::min(range.least, 0.7), std::max(range.most, 1.45)};
  const LogScale y(range.least, range.most, ratio_bottom, ratio_top);
  const double one = y(1);
  std::string svg = text_at(left, ratio_top - 10, "start",
                            "Parley's time over theirs (below 1: Parley is faster)", "caption");
  svg += fmt::format(R"(<rect class="slower" x="{0}" y="{1}" width="{2}" height="{3:.1f}"/>)", left,
                     ratio_top, right - left, one - ratio_top);
  svg += fmt::format(R"(<rect class="faster" x="{0}" y="{1:.1f}" width="{2}" height="{3:.1f}"/>)", left, one,
                     right - left, ratio_bottom - one);
  svg += byte_axis(view, x, ratio_top, ratio_bottom, true);
  for (const double tick : figures::ratio_ticks(range)) {
    svg += line_at(tick == 1 ? "one" : "grid", left, y(tick), right, y(tick));
    svg += text_at(left - 6, y(tick) + 4, "end", fmt::format("{:.3g}", tick));
  }
  svg += figures::frame({left, ratio_top, right, ratio_bottom});
  std::vector<Label> names;
  svg += ratio_series(view, Against::raw_limit, x, y, 2, names);
  svg += ratio_series(view, Against::best_peer, x, y, -2, names);
  return svg + figures::labels(std::move(names), {left, ratio_top + 6, right, ratio_bottom - 2});
}

bool has_ratios(const CaseView& view) {
  return std::any_of(view.lines.begin(), view.lines.end(),
                     [](const Line* line) { return line->to_peer || line->to_limit; });
}

std::string body_of(const CaseView& view) {
  const LogScale x = byte_scale(view);
  return figures_plot(view, x) + ratio_plot(view, x);
}

double height_of(const CaseView& view) {
  return has_ratios(view) ? height : bottom + 26;
}

}  // namespace

std::string chart_of(const CaseView& view) {
  if (view.lines.empty()) return {};
  return figures::inline_drawing(width, height_of(view), title_of(view.where), body_of(view));
}

std::string standalone_chart_of(const CaseView& view) {
  if (view.lines.empty()) return {};
  return figures::drawing_file(width, height_of(view), title_of(view.where), colour_style(), body_of(view));
}

}  // namespace parley::bench::compare
