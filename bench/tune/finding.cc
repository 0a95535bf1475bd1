#include "bench/tune/finding.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/compare/ratio.h"
#include "bench/statistics.h"

namespace parley::bench::tune {
namespace {

// What the gate takes is taken off, and little may be left.
constexpr double least_us = 0.001;

compare::Ratio ratio_of(const Series& one, const Series& first) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < one.round_us.size(); ++round)
    ratios.push_back(std::max(one.round_us[round], least_us) / std::max(first.round_us[round], least_us));
  return compare::median_ratio(ratios);
}

schedule::Algorithm algorithm_of(const Contest& contest, std::size_t index) {
  return schedule::find_algorithm(contest.systems[index]).value();
}

bool is_same_but_for_bytes(schedule::TuningCase left, const schedule::TuningCase& right) noexcept {
  left.bytes = right.bytes;
  return left == right;
}

std::uint64_t middle_of(std::uint64_t least, std::uint64_t most) {
  return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(least) * static_cast<double>(most)));
}

}  // namespace

std::size_t winner_of(const Contest& contest) {
  std::size_t winner = 0;
  double least = 1;
  for (std::size_t i = 1; i < contest.systems.size(); ++i) {
    const compare::Ratio ratio = ratio_of(contest.series[i], contest.series.front());
    if (!ratio.bounds || ratio.bounds->hi >= clearly_faster || ratio.value >= least) continue;
    winner = i;
    least = ratio.value;
  }
  return winner;
}

Finding finding_of(const schedule::TuningCase& where, const Contest& contest) {
  const std::size_t winner = winner_of(contest);
  return {.where = where,
          .predicted = algorithm_of(contest, 0),
          .chosen = algorithm_of(contest, winner),
          .predicted_us = median(contest.series.front().round_us),
          .chosen_us = median(contest.series[winner].round_us),
          .probe_ns = contest.probe_ns};
}

schedule::Tuning tuning_of(std::span<const Finding> findings) {
  std::vector<schedule::TuningRow> rows;
  for (const Finding& finding : findings) rows.push_back({finding.where, finding.chosen});
  std::sort(rows.begin(), rows.end(),
            [](const auto& left, const auto& right) { return left.up_to < right.up_to; });
  std::vector<schedule::TuningRow> merged;
  for (const schedule::TuningRow& row : rows) {
    if (!merged.empty() && is_same_but_for_bytes(merged.back().up_to, row.up_to)) {
      schedule::TuningRow& before = merged.back();
      if (before.algorithm == row.algorithm) {
        before = row;
        continue;
      }
      before.up_to.bytes = middle_of(before.up_to.bytes, row.up_to.bytes);
    }
    merged.push_back(row);
  }
  for (schedule::TuningRow& row : merged)
    if (row.up_to.operation == schedule::Operation::barrier) row.up_to.bytes = schedule::any_size;
  return schedule::Tuning(std::move(merged));
}

}  // namespace parley::bench::tune
