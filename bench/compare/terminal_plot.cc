#include "bench/compare/terminal_plot.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "bench/sizes.h"
#include "tools/figures/axis.h"

namespace parley::bench::compare {
namespace {

using figures::LogScale;
using figures::Range;

constexpr int columns = 64;
constexpr int rows = 14;
constexpr int most_plot_ticks = 7;
constexpr int no_one = -1;
// Parley's comes first; then blue, green, magenta, yellow, cyan; the limit's is grey.
constexpr std::array<int, 6> colour_codes = {91, 94, 92, 95, 93, 96};
constexpr int limit_colour = 90;

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

std::vector<Curve> curves_of(const CaseView& view) {
  std::vector<Curve> curves;
  for (const std::string& system : view.systems) {
    Curve curve{system, {}};
    for (const Line* line : view.lines) {
      const Entry* const entry = line->find(system);
      if (entry == nullptr || !entry->has_figures()) continue;
      const Figure kind = operation(view.where.op).figure;
      curve.points.emplace_back(static_cast<double>(std::max<std::size_t>(line->bytes, 1)),
                                figure_of(kind, line->bytes, entry->median_us));
    }
    if (!curve.points.empty()) curves.push_back(std::move(curve));
  }
  return curves;
}

// Dots in cells; each cell belongs to the curve that was drawn last.
class Canvas {
 public:
  explicit Canvas(bool braille) : across_(braille ? 2 : 1), down_(braille ? 4 : 1) {}

  [[nodiscard]] int width() const noexcept { return columns * across_; }
  [[nodiscard]] int height() const noexcept { return rows * down_; }

  void dot(int x, int y, int owner) {
    if (x < 0 || y < 0 || x >= width() || y >= height()) return;
    Cell& cell = cells_[static_cast<std::size_t>(y / down_ * columns + x / across_)];
    // The numbering of braille's dots: down the left column, down the right one, then the lowest two.
    constexpr std::array<std::array<int, 2>, 4> bits = {
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    cell.dots |= bits[static_cast<std::size_t>(y % down_)][static_cast<std::size_t>(x % across_)];
    cell.owner = owner;
  }
  void line(double x1, double y1, double x2, double y2, int owner) {
    const int steps = static_cast<int>(std::max({std::abs(x2 - x1), std::abs(y2 - y1), 1.0}));
    for (int i = 0; i <= steps; ++i) {
      const double part = static_cast<double>(i) / steps;
      dot(static_cast<int>(x1 + (x2 - x1) * part), static_cast<int>(y1 + (y2 - y1) * part), owner);
    }
  }
  struct Cell {
    int dots = 0;
    int owner = no_one;
  };
  [[nodiscard]] const Cell& at(int row, int column) const {
    return cells_[static_cast<std::size_t>(row * columns + column)];
  }

 private:
  int across_;
  int down_;
  std::array<Cell, static_cast<std::size_t>(columns* rows)> cells_{};
};

// A character of the block that starts at U+2800, in UTF-8.
std::string braille(int dots) {
  return {static_cast<char>(0xE2), static_cast<char>(0xA0 | (dots >> 6)),
          static_cast<char>(0x80 | (dots & 0x3F))};
}

int colour_of(const std::string& name, int place) {
  if (name == limit_name) return limit_colour;
  return colour_codes[static_cast<std::size_t>(place) % colour_codes.size()];
}

// Letters that tell the systems apart: the first one of the name that is free.
std::vector<char> letters_of(const std::vector<Curve>& curves) {
  std::vector<char> letters;
  for (const Curve& curve : curves) {
    char chosen = static_cast<char>('0' + letters.size());
    for (const char letter : curve.name) {
      const char upper = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
      if (std::find(letters.begin(), letters.end(), upper) != letters.end()) continue;
      chosen = upper;
      break;
    }
    letters.push_back(chosen);
  }
  return letters;
}

class Plot {
 public:
  Plot(const CaseView& view, const TerminalStyle& style)
      : view_(view),
        style_(style),
        curves_(curves_of(view)),
        letters_(letters_of(curves_)),
        canvas_(style.braille) {}

  std::string draw() {
    std::vector<double> values;
    for (const Curve& curve : curves_)
      for (const auto& [bytes, value] : curve.points) values.push_back(value);
    range_ = figures::range_of(values, 1.15);
    // The library's curve is drawn last, over the others.
    for (std::size_t i = curves_.size(); i-- > 0;) draw_curve(static_cast<int>(i));
    std::string text;
    for (int row = 0; row < rows; ++row) text += line_of(row);
    return text + byte_axis();
  }

 private:
  [[nodiscard]] double x_of(double bytes) const {
    const double least = static_cast<double>(std::max<std::size_t>(view_.lines.front()->bytes, 1));
    const double most = static_cast<double>(view_.lines.back()->bytes);
    if (most <= least) return canvas_.width() / 2.0;
    return LogScale(least, most, 0, canvas_.width() - 1)(bytes);
  }
  [[nodiscard]] double y_of(double value) const {
    return LogScale(range_.least, range_.most, canvas_.height() - 1, 0)(value);
  }
  [[nodiscard]] int row_of(double value) const {
    return static_cast<int>(y_of(value)) * rows / canvas_.height();
  }

  void draw_curve(int place) {
    const Curve& curve = curves_[static_cast<std::size_t>(place)];
    std::pair<double, double> before = curve.points.front();
    for (const auto& point : curve.points) {
      canvas_.line(x_of(before.first), y_of(before.second), x_of(point.first), y_of(point.second), place);
      before = point;
    }
  }

  [[nodiscard]] std::string coloured(const std::string& text, int place) const {
    if (!style_.colours || place == no_one) return text;
    return fmt::format("\033[{}m{}\033[0m", colour_of(curves_[static_cast<std::size_t>(place)].name, place),
                       text);
  }

  [[nodiscard]] std::string cell(int row, int column) const {
    const Canvas::Cell& one = canvas_.at(row, column);
    if (one.owner == no_one) return " ";
    if (style_.braille) return coloured(braille(one.dots), one.owner);
    return coloured(std::string(1, letters_[static_cast<std::size_t>(one.owner)]), one.owner);
  }

  // The tick of this row, if there is one.
  [[nodiscard]] std::string value_label(int row) const {
    std::string label;
    for (const double tick : figures::decimal_ticks(range_)) {
      if (row_of(tick) == row) label = tick_label(operation(view_.where.op).figure, tick);
    }
    // Two bytes, one place.
    if (const std::size_t micro = label.find("µ"); !style_.braille && micro != std::string::npos)
      label.replace(micro, std::string_view("µ").size(), "u");
    return fmt::format("{:>9} ", label);
  }

  // Where each name stands: at the row of its curve's end, or the next one that is free.
  [[nodiscard]] std::vector<int> name_rows() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < curves_.size(); ++i) order.push_back(i);
    const auto end_of = [this](std::size_t i) { return row_of(curves_[i].points.back().second); };
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return end_of(a) < end_of(b); });
    std::vector<int> places(curves_.size());
    int next = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const int room_below = static_cast<int>(order.size() - i);
      next = std::min(std::max(next, end_of(order[i])), rows - room_below);
      places[order[i]] = next++;
    }
    return places;
  }

  std::string line_of(int row) {
    std::string text = value_label(row) + (style_.braille ? "│" : "|");
    for (int column = 0; column < columns; ++column) text += cell(row, column);
    const std::vector<int> places = name_rows();
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] != row) continue;
      const std::string name =
          style_.braille ? curves_[i].name : fmt::format("{} {}", letters_[i], curves_[i].name);
      text += " " + coloured(name, static_cast<int>(i));
    }
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }

  [[nodiscard]] std::string byte_axis() const {
    std::string labels(static_cast<std::size_t>(columns) + 8, ' ');
    for (const std::size_t tick :
         figures::power_ticks(view_.lines.front()->bytes, view_.lines.back()->bytes, most_plot_ticks)) {
      const int column = static_cast<int>(x_of(static_cast<double>(tick))) * columns / canvas_.width();
      const std::string label = format_size(tick);
      labels.replace(static_cast<std::size_t>(column), label.size(), label);
    }
    std::string text(10, ' ');
    text += style_.braille ? "└" : "+";
    for (int column = 0; column < columns; ++column) text += style_.braille ? "─" : "-";
    text += "\n" + std::string(11, ' ') + labels;
    return text.substr(0, text.find_last_not_of(' ') + 1) + " bytes\n";
  }

  const CaseView& view_;
  TerminalStyle style_;
  std::vector<Curve> curves_;
  std::vector<char> letters_;
  Canvas canvas_;
  Range range_{1, 10};
};

bool locale_is_utf8() {
  // In the order in which they hold.
  for (const char* const variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    std::string name = value;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

TerminalStyle terminal_style() {
  const char* const refusal = std::getenv("NO_COLOR");
  return {locale_is_utf8(), ::isatty(STDOUT_FILENO) == 1 && (refusal == nullptr || *refusal == '\0')};
}

std::string terminal_plot(const CaseView& view, const TerminalStyle& style) {
  if (view.lines.empty()) return {};
  return Plot(view, style).draw();
}

}  // namespace parley::bench::compare
