#include "tools/sim/pieces.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace parley::sim {
namespace {

constexpr std::size_t least_things = 2;

// From the straight line a + b n, neither below 0, of the least relative errors.
Misfit misfit_of_line(std::span<const SizeTime> part) {
  double w = 0, wn = 0, wnn = 0, wt = 0, wnt = 0;
  for (const auto& [bytes, ns] : part) {
    const auto n = static_cast<double>(bytes);
    const double weight = 1 / (ns * ns);
    w += weight;
    wn += weight * n;
    wnn += weight * n * n;
    wt += weight * ns;
    wnt += weight * n * ns;
  }
  const double determinant = w * wnn - wn * wn;
  double slope = determinant > 0 ? (w * wnt - wn * wt) / determinant : 0;
  double start = (wt - slope * wn) / w;
  if (slope < 0) {
    slope = 0;
    start = wt / w;
  } else if (start < 0) {
    start = 0;
    slope = wnt / wnn;
  }
  Misfit misfit;
  for (const auto& [bytes, ns] : part) {
    const double error = std::abs((start + slope * static_cast<double>(bytes)) / ns - 1);
    misfit.squares += error * error;
    misfit.worst = std::max(misfit.worst, error);
  }
  return misfit;
}

struct Cut {
  double squares = std::numeric_limits<double>::infinity();
  double worst = 0;
  std::vector<std::size_t> begins;
};

}  // namespace

std::vector<std::size_t> find_cuts(std::size_t count, std::size_t most, double tolerance,
                                   const std::function<Misfit(std::size_t begin, std::size_t end)>& misfit) {
  if (count == 0) return {0};
  // best[end]: of the things before `end`, in so many parts.
  std::vector<Cut> best(count + 1);
  for (std::size_t end = 1; end <= count; ++end) {
    const Misfit whole = misfit(0, end);
    best[end] = {whole.squares, whole.worst, {0}};
  }
  for (std::size_t parts = 1; parts < most && best.back().worst > tolerance; ++parts) {
    std::vector<Cut> next(count + 1);
    for (std::size_t end = 0; end <= count; ++end)
      for (std::size_t begin = least_things * parts; begin + least_things <= end; ++begin) {
        const Misfit last = misfit(begin, end);
        if (best[begin].squares + last.squares >= next[end].squares) continue;
        next[end] = {best[begin].squares + last.squares, std::max(best[begin].worst, last.worst),
                     best[begin].begins};
        next[end].begins.push_back(begin);
      }
    if (next.back().begins.empty()) break;  // too few things for one more
    best = std::move(next);
  }
  return best.back().begins;
}

std::vector<std::uint64_t> find_pieces(std::span<const SizeTime> curve, std::size_t most, double tolerance) {
  const auto misfit = [&](std::size_t begin, std::size_t end) {
    return misfit_of_line(curve.subspan(begin, end - begin));
  };
  std::vector<std::uint64_t> first;
  for (const std::size_t begin : find_cuts(curve.size(), most, tolerance, misfit))
    first.push_back(begin == 0 ? 0 : curve[begin].bytes);
  return first;
}

}  // namespace parley::sim
