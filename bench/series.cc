#include "bench/series.h"

#include <cstddef>

namespace parley::bench {
namespace {

double combined_us(Op op, std::span<const Series> pairs, std::size_t round) {
  double sum = 0;
  for (const Series& pair : pairs) sum += is_windowed(op) ? 1 / pair.round_us[round] : pair.round_us[round];
  return is_windowed(op) ? 1 / sum : sum / static_cast<double>(pairs.size());
}

}  // namespace

void Series::append(const PhaseResult& result) {
  round_us.push_back(result.us);
  tail_us.insert(tail_us.end(), result.tail_us.begin(), result.tail_us.end());
}

Series combine(Op op, std::span<const Series> pairs) {
  Series all;
  for (std::size_t round = 0; round < pairs.front().round_us.size(); ++round) {
    all.round_us.push_back(combined_us(op, pairs, round));
  }
  for (const Series& pair : pairs) {
    all.tail_us.insert(all.tail_us.end(), pair.tail_us.begin(), pair.tail_us.end());
  }
  return all;
}

}  // namespace parley::bench
