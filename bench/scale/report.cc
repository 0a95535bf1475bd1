#include "bench/scale/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/scale/launch.h"
#include "bench/scale/promise.h"

namespace parley::bench::scale {
namespace {

constexpr const char* schema = "parley-bench-scale/1";
constexpr int least_width = 8;

int width_of(const QuantityInfo& one) {
  return std::max(least_width, static_cast<int>(one.column.size())) + 1;
}

std::string cell_of(const QuantityInfo& one, const std::optional<double>& value) {
  if (!value) return fmt::format("{:>{}}", "-", width_of(one));
  return fmt::format("{:>{}.{}f}", *value, width_of(one), one.digits);
}

std::string unit_of_cost(const QuantityInfo& one) {
  return one.is_rate ? "us for one" : std::string(one.unit);
}

// "128 ranks: 1.2"
std::string ratio_text(int ranks, double over, double under) {
  return fmt::format("{} ranks: {:.2f}", ranks, over / under);
}

// One figure over another, wherever there are both.
std::string ratios_of(const Figures& figures, Quantity over, Quantity under) {
  std::string text;
  const auto series = figures.find(over);
  if (series == figures.end()) return text;
  for (const auto& [ranks, value] : series->second)
    if (const auto other = figure(figures, under, ranks))
      text += (text.empty() ? "" : ", ") + ratio_text(ranks, value, *other);
  return text;
}

bool has_promise(const Figures& figures) {
  return std::any_of(figures.begin(), figures.end(),
                     [](const auto& one) { return promised(one.first, 2).has_value(); });
}

}  // namespace

std::string table_of(const ScaleOptions& options, const Figures& figures) {
  std::string names = fmt::format("{:>7}", "# ranks");
  std::string units = fmt::format("{:>7}", "#");
  for (const QuantityInfo& one : quantities) {
    if (!figures.contains(one.quantity)) continue;
    names += fmt::format("{:>{}}", one.column, width_of(one));
    units += fmt::format("{:>{}}", one.unit, width_of(one));
  }
  std::string text = names + '\n' + units + '\n';
  for (const int ranks : options.ranks) {
    text += fmt::format("{:>7}", ranks);
    for (const QuantityInfo& one : quantities)
      if (figures.contains(one.quantity)) text += cell_of(one, figure(figures, one.quantity, ranks));
    text += '\n';
  }
  return text;
}

std::string law_text(const QuantityInfo& one, const Figures& figures) {
  const auto growth = fit_growth(points_of(one.quantity, figures.at(one.quantity)));
  if (!growth) return "too few figures for a law";
  const std::string unit = unit_of_cost(one);
  return (is_told(*growth) ? "" : "no law; the nearest is ") + describe(*growth) +
         (unit.empty() ? "" : " (" + unit + ")");
}

std::string laws_of(const Figures& figures) {
  std::string text;
  for (const QuantityInfo& one : quantities) {
    if (figures.contains(one.quantity)) text += fmt::format("{:<19} {}\n", one.name, law_text(one, figures));
  }
  return text;
}

std::string verdicts_of(const Figures& figures) {
  std::string text;
  if (const std::string ratios = ratios_of(figures, Quantity::start, Quantity::openmpi_start);
      !ratios.empty())
    text += "start over Open MPI's: " + ratios + '\n';
  if (const std::string ratios = ratios_of(figures, Quantity::poll_all, Quantity::poll_one); !ratios.empty())
    text += "a look at all peers over a look at one: " + ratios + '\n';
  if (!has_promise(figures)) return text;
  const std::vector<std::string> breaches = breaches_of(figures);
  for (const std::string& line : breaches) text += "BEYOND THE PROMISE: " + line + '\n';
  if (breaches.empty()) text += "memory and descriptors are within what bench/scale/README.md promises\n";
  return text;
}

std::string rows_of(const ScaleOptions& options, const Figures& figures) {
  std::string text;
  for (const QuantityInfo& one : quantities) {
    const auto series = figures.find(one.quantity);
    if (series == figures.end()) continue;
    for (const auto& [ranks, value] : series->second) {
      nlohmann::ordered_json row{
          {"schema", schema}, {"what", one.name}, {"transport", options.transport}, {"ranks", ranks},
          {"value", value},   {"unit", one.unit}, {"rounds", options.rounds}};
      const auto most = promised(one.quantity, ranks);
      row["promised"] = most ? nlohmann::ordered_json(*most) : nlohmann::ordered_json();
      text += row.dump() + '\n';
    }
    if (const auto growth = fit_growth(points_of(one.quantity, series->second))) {
      const nlohmann::ordered_json row{
          {"schema", schema},         {"law_of", one.name},        {"transport", options.transport},
          {"law", name(growth->law)}, {"shape", growth->shape},    {"base", growth->base},
          {"step", growth->step},     {"unit", unit_of_cost(one)}, {"misfit", growth->misfit}};
      text += row.dump() + '\n';
    }
  }
  return text;
}

}  // namespace parley::bench::scale
