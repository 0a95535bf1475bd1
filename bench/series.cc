#include "bench/series.h"

#include <algorithm>
#include <numeric>

namespace parley::bench {
namespace {

std::span<const double> tail_of(const Series& series, std::size_t round) {
  const std::size_t samples = series.tail_us.size() / series.round_us.size();
  return std::span(series.tail_us).subspan(round * samples, samples);
}

void append_tail(Series& to, std::span<const double> samples) {
  to.tail_us.insert(to.tail_us.end(), samples.begin(), samples.end());
}

double combined_us(Op op, std::span<const Series* const> pairs, std::size_t round) {
  double sum = 0;
  for (const Series* pair : pairs) sum += is_windowed(op) ? 1 / pair->round_us[round] : pair->round_us[round];
  return is_windowed(op) ? 1 / sum : sum / static_cast<double>(pairs.size());
}

bool is_disturbed(const Series& series, std::size_t round) {
  return !series.core_share.empty() && series.core_share[round] < undisturbed_share;
}

}  // namespace

void Series::append(const PhaseResult& result) {
  round_us.push_back(result.us);
  append_tail(*this, result.tail_us);
}

Series combine(Op op, std::span<const Series> ranks) {
  std::vector<const Series*> pairs;
  for (const Series& rank : ranks) {
    if (!rank.round_us.empty()) pairs.push_back(&rank);
  }
  const std::size_t rounds = ranks.front().round_us.size();
  Series all;
  for (std::size_t round = 0; round < rounds; ++round) {
    all.round_us.push_back(combined_us(op, pairs, round));
    for (const Series* pair : pairs) append_tail(all, tail_of(*pair, round));
  }
  const bool shares_known = std::all_of(
      ranks.begin(), ranks.end(), [rounds](const Series& rank) { return rank.core_share.size() == rounds; });
  if (!shares_known) return all;
  all.core_share.assign(rounds, 1.0);
  for (const Series& rank : ranks) {
    for (std::size_t round = 0; round < rounds; ++round) {
      all.core_share[round] = std::min(all.core_share[round], rank.core_share[round]);
    }
  }
  return all;
}

std::vector<std::size_t> rounds_that_count(std::span<const Series> systems) {
  std::vector<std::size_t> all(systems.front().round_us.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<std::size_t> undisturbed;
  for (const std::size_t round : all) {
    if (std::none_of(systems.begin(), systems.end(),
                     [round](const Series& s) { return is_disturbed(s, round); })) {
      undisturbed.push_back(round);
    }
  }
  return 3 * undisturbed.size() >= all.size() ? undisturbed : all;
}

Series only(const Series& series, std::span<const std::size_t> rounds) {
  Series left;
  for (const std::size_t round : rounds) {
    left.round_us.push_back(series.round_us[round]);
    append_tail(left, tail_of(series, round));
    if (!series.core_share.empty()) left.core_share.push_back(series.core_share[round]);
  }
  return left;
}

}  // namespace parley::bench
