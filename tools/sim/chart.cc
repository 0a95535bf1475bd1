#include "tools/sim/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/figures/axis.h"
#include "tools/figures/markup.h"
#include "tools/figures/svg.h"
#include "tools/sim/colours.h"
#include "tools/sim/quantity.h"
#include "tools/sim/study.h"

namespace parley::sim {
namespace {

using figures::LogScale;

// Places in the drawing; units are those of its view box.
constexpr double width = 680;
constexpr figures::Box box{66, 26, 536, 336};
constexpr double height = 364;
constexpr int most_power_ticks = 8;
constexpr double slowest_shown = 300;  // times the fastest
constexpr double ns_per_us = 1000;

struct Point {
  double x, y;
  std::string hint;
  bool is_taken = false;
};

// Letters that a size needs: "4 KiB" is "4K".
std::string short_bytes(std::size_t bytes) {
  std::string text = format_bytes(bytes);
  for (const std::string_view unit : {" B", "iB"})
    if (text.ends_with(unit)) text.resize(text.size() - unit.size());
  std::erase(text, ' ');
  return text;
}

class Chart {
 public:
  explicit Chart(std::span<const Contest> contests)
      : contests_(contests),
        x_(byte_scale()),
        range_(shown_range()),
        y_(range_.least, range_.most, box.bottom, box.top) {}

  [[nodiscard]] std::string draw() const {
    std::string svg =
        figures::text_at(box.left, box.top - 10, "start", "time of a call, by its size in bytes");
    svg += grid() + figures::frame(box);
    // Curves may leave the frame, and only there.
    const std::string clip = fmt::format("clip-{}", contests_.front().network.ranks);
    svg += fmt::format(
        R"--(<clipPath id="{}"><rect x="{}" y="{}" width="{}" height="{}"/></clipPath><g clip-path="url(#{})">)--",
        clip, box.left, box.top - 4, box.right - box.left + 6, box.bottom - box.top + 8, clip);
    std::vector<figures::Label> names;
    std::map<schedule::Algorithm, std::vector<Point>> curves;
    std::vector<Point> bound;
    for (const Contest& contest : contests_) {
      bound.push_back(
          {at(contest), y_(contest.bound_ns / ns_per_us),
           fmt::format("bound, {}: {}", format_bytes(contest.call.bytes), format_ns(contest.bound_ns))});
      for (std::size_t i = 0; i < contest.entrants.size(); ++i)
        curves[contest.entrants[i].candidate.algorithm].push_back(point(contest, i));
    }
    svg += curve("a-bound", bound);
    name("bound", "a-bound", bound, names);
    for (const auto& [algorithm, points] : curves) {
      svg += curve(colour_class(algorithm), points);
      name(std::string(schedule::name(algorithm)), colour_class(algorithm), points, names);
    }
    return svg + "</g>" +
           figures::labels(std::move(names), {box.left, box.top + 6, box.right, box.bottom - 2});
  }

 private:
  [[nodiscard]] LogScale byte_scale() const {
    const auto least = static_cast<double>(std::max<std::uint64_t>(contests_.front().call.bytes, 1));
    const auto most = static_cast<double>(contests_.back().call.bytes);
    // A single size stands in the middle.
    return most > least ? LogScale(least, most, box.left + 10, box.right - 10)
                        : LogScale(least / 2, least * 2, box.left, box.right);
  }

  [[nodiscard]] figures::Range shown_range() const {
    std::vector<double> shown;
    for (const Contest& contest : contests_) {
      shown.push_back(contest.bound_ns / ns_per_us);
      for (const Entrant& entrant : contest.entrants)
        if (entrant.figure.ns <= slowest_shown * contest.fastest().figure.ns)
          shown.push_back(entrant.figure.ns / ns_per_us);
    }
    return figures::range_of(shown);
  }

  [[nodiscard]] double at(const Contest& contest) const {
    return x_(static_cast<double>(std::max<std::uint64_t>(contest.call.bytes, 1)));
  }

  [[nodiscard]] Point point(const Contest& contest, std::size_t entrant) const {
    const Entrant& one = contest.entrants[entrant];
    return {at(contest), y_(one.figure.ns / ns_per_us),
            fmt::format("{}, {}: {}, {:.2f} times the bound{}",
                        algorithm_text(one.candidate, contest.call.element_bytes),
                        format_bytes(contest.call.bytes), figure_text(one.figure),
                        one.figure.ns / contest.bound_ns,
                        entrant == contest.chosen ? "; the library takes it" : ""),
            entrant == contest.chosen};
  }

  [[nodiscard]] std::string grid() const {
    std::string svg;
    for (const std::size_t tick :
         figures::power_ticks(contests_.front().call.bytes, contests_.back().call.bytes, most_power_ticks)) {
      const double place = x_(static_cast<double>(tick));
      svg += figures::line_at("grid", place, box.top, place, box.bottom);
      svg += figures::text_at(place, box.bottom + 15, "middle", short_bytes(tick));
    }
    for (const double tick : figures::decimal_ticks(range_)) {
      svg += figures::line_at("grid", box.left, y_(tick), box.right, y_(tick));
      svg += figures::text_at(box.left - 6, y_(tick) + 4, "end", figures::time_label(tick));
    }
    return svg;
  }

  static std::string curve(const std::string& kind, const std::vector<Point>& points) {
    std::string path, dots;
    for (const Point& point : points) {
      path += fmt::format("{:.1f},{:.1f} ", point.x, point.y);
      dots +=
          fmt::format(R"(<circle class="dot{}" cx="{:.1f}" cy="{:.1f}" r="{}"><title>{}</title></circle>)",
                      point.is_taken ? " taken" : "", point.x, point.y, point.is_taken ? 4 : 2.4,
                      figures::escape(point.hint));
    }
    return fmt::format(R"(<g class="{}"><polyline class="curve" points="{}"/>{}</g>)", kind, path, dots);
  }

  // At the end of the curve, or where it leaves the picture.
  static void name(std::string text, const std::string& kind, const std::vector<Point>& points,
                   std::vector<figures::Label>& names) {
    const auto last =
        std::find_if(points.rbegin(), points.rend(), [](const Point& point) { return point.y >= box.top; });
    if (last != points.rend()) names.push_back({std::move(text), kind, last->x, last->y});
  }

  std::span<const Contest> contests_;
  LogScale x_;
  figures::Range range_;
  LogScale y_;
};

}  // namespace

std::string chart_of(std::span<const Contest> contests) {
  return figures::inline_drawing(width, height, network_text(contests.front().network),
                                 Chart(contests).draw());
}

std::string standalone_chart_of(std::span<const Contest> contests) {
  const Network& network = contests.front().network;
  const std::string title =
      fmt::format("{}, {} ranks on {} host{}", schedule::name(contests.front().call.operation), network.ranks,
                  network.hosts(), network.hosts() == 1 ? "" : "s");
  return figures::drawing_file(width, height, title, colour_style(), Chart(contests).draw());
}

}  // namespace parley::sim
