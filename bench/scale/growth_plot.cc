#include "bench/scale/growth_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace parley::bench::scale {
namespace {

constexpr int columns = 64;
constexpr int rows = 16;
constexpr double air = 1.2;

struct Curve {
  char letter;
  std::string_view name;
  std::vector<Point> points;  // costs as multiples of the first one's
};

std::vector<Curve> curves_of(const Figures& figures) {
  std::vector<Curve> curves;
  for (const QuantityInfo& one : quantities) {
    const auto series = figures.find(one.quantity);
    if (series == figures.end() || series->second.size() < 2) continue;
    std::vector<Point> points = points_of(one.quantity, series->second);
    const double first = points.front().cost;
    for (Point& point : points) point.cost /= first;
    curves.push_back({static_cast<char>('A' + curves.size()), one.name, std::move(points)});
  }
  return curves;
}

// Letters in cells; where several meet, a star.
class Picture {
 public:
  explicit Picture(const std::vector<Curve>& curves) {
    for (const Curve& curve : curves)
      for (const Point& point : curve.points) {
        least_ = std::min(least_, point.cost);
        most_ = std::max(most_, point.cost);
        all_ranks_.insert(point.ranks);
      }
    least_ /= air;
    most_ *= air;
    for (const Curve& curve : curves)
      for (const Point& point : curve.points) put(column_of(point.ranks), row_of(point.cost), curve.letter);
    for (int column = 0; column < columns; ++column) {
      const double part = static_cast<double>(column) / (columns - 1);
      put(column, row_of(std::pow(last_ranks() / first_ranks(), part)), '.');
    }
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (int row = 0; row < rows; ++row) {
      std::string line = cells_[static_cast<std::size_t>(row)];
      line.erase(line.find_last_not_of(' ') + 1);
      text += fmt::format("{:>8} |{}\n", label_of(row), line);
    }
    return text + fmt::format("{:>8} +{}\n", "", std::string(columns, '-')) + axis();
  }

 private:
  [[nodiscard]] double first_ranks() const { return *all_ranks_.begin(); }
  [[nodiscard]] double last_ranks() const { return *all_ranks_.rbegin(); }
  [[nodiscard]] int column_of(double ranks) const {
    const double part = std::log(ranks / first_ranks()) / std::log(last_ranks() / first_ranks());
    return static_cast<int>(std::lround(part * (columns - 1)));
  }
  [[nodiscard]] int row_of(double cost) const {
    const double part = std::log(most_ / cost) / std::log(most_ / least_);
    return static_cast<int>(std::lround(part * (rows - 1)));
  }
  void put(int column, int row, char letter) {
    if (row < 0 || row >= rows) return;
    char& cell = cells_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
    if (cell == ' ')
      cell = letter;
    else if (letter != '.')
      cell = '*';
  }
  // Every third line, and the one of the first figures.
  [[nodiscard]] std::string label_of(int row) const {
    if (row == row_of(1)) return "1 x";
    if (row % 3 != 0 || std::abs(row - row_of(1)) < 2) return "";
    return fmt::format("{:.2g} x", most_ * std::pow(least_ / most_, static_cast<double>(row) / (rows - 1)));
  }
  [[nodiscard]] std::string axis() const {
    std::string line;
    for (const double ranks : all_ranks_) {
      const std::string number = fmt::format("{}", ranks);
      const auto column = static_cast<std::size_t>(column_of(ranks));
      const std::size_t begin = column - std::min(column, number.size() / 2);
      if (begin < line.size() + (line.empty() ? 0 : 1)) continue;
      line.resize(begin, ' ');
      line += number;
    }
    return fmt::format("{:>8}  {} ranks\n", "", line);
  }

  double least_ = 1;
  double most_ = 1;
  std::set<double> all_ranks_;
  std::vector<std::string> cells_ = std::vector<std::string>(rows, std::string(columns, ' '));
};

}  // namespace

std::string growth_plot(const Figures& figures) {
  const std::vector<Curve> curves = curves_of(figures);
  if (curves.empty()) return {};
  std::string text = Picture(curves).text();
  std::string line = "          ";
  for (const Curve& curve : curves) {
    const std::string word = fmt::format("{} {}", curve.letter, curve.name);
    if (line.size() + word.size() + 2 > columns + 16) {
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
      line = "          ";
    }
    line += word + "  ";
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return text + line + "  * several  . linear\n";
}

}  // namespace parley::bench::scale
