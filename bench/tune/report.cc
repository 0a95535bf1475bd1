#include "bench/tune/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/compare/machine.h"
#include "bench/sizes.h"

namespace parley::bench::tune {
namespace {

// Of each number of ranks the least and the largest: "2 ranks 61 to 75 ns". Of ranks that share cores a probe
// tells nothing.
std::string distances_in(std::span<const Finding> findings) {
  std::map<std::uint32_t, std::pair<double, double>> distances;
  for (const Finding& finding : findings) {
    if (finding.where.shares_cores) continue;
    const auto& [where, is_new] =
        distances.try_emplace(finding.where.ranks, finding.probe_ns, finding.probe_ns);
    auto& [least, most] = where->second;
    least = std::min(least, finding.probe_ns);
    most = std::max(most, finding.probe_ns);
  }
  std::string text;
  for (const auto& [ranks, distance] : distances)
    text += fmt::format("{}{} ranks {:.0f} to {:.0f} ns", text.empty() ? "" : ", ", ranks, distance.first,
                        distance.second);
  return text;
}

}  // namespace

std::string remarks_on(const TuneOptions& options, const std::string& command,
                       std::span<const Finding> findings) {
  std::string text = fmt::format("Written by: {}\nOn: {}\n", command, compare::current_date());
  for (const auto& [name, value] : compare::describe_machine()) text += fmt::format("{}: {}\n", name, value);
  if (const std::string distances = distances_in(findings); !distances.empty())
    text += fmt::format("From core to core, one way: {}\n", distances);
  text += fmt::format(
      "Calls on 32-bit floats, medians of {} rounds of {} ms. The price model's choice, unless another one "
      "is\n"
      "clearly faster. See parley-bench tune --help.\n",
      options.rounds, options.round_ms);
  return text;
}

std::string summary_of(std::span<const Finding> findings) {
  std::string text = fmt::format("{:<16}{:>6}{:>8}  {:<20}{:>12}  {:<20}{:>12}{:>8}\n", "# Operation",
                                 "ranks", "size", "model", "us", "table", "us", "ratio");
  for (const Finding& finding : findings) {
    text += fmt::format("{:<16}{:>6}{:>8}  {:<20}{:>12.2f}  {:<20}{:>12.2f}{:>8.2f}\n",
                        name(finding.where.operation), finding.where.ranks, format_size(finding.where.bytes),
                        name(finding.predicted), finding.predicted_us, name(finding.chosen),
                        finding.chosen_us, finding.chosen_us / std::max(finding.predicted_us, 1e-9));
  }
  return text;
}

}  // namespace parley::bench::tune
