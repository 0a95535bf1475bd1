#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace parley::sim {

// How far what was found for a part is from what it was found for.
struct Misfit {
  double squares = 0;  // sum of squared relative errors
  double worst = 0;    // largest relative error
};

// Cuts `count` things that are in order into as few parts as leave no error above `tolerance`, or into
// `most`; each of two things or more. Where they begin; the first at 0. `misfit` is asked of [begin, end).
// The best cut of all, by dynamic programming (Bellman: On the approximation of curves by line segments using
// dynamic programming, CACM 4(6), 1961).
std::vector<std::size_t> find_cuts(std::size_t count, std::size_t most, double tolerance,
                                   const std::function<Misfit(std::size_t begin, std::size_t end)>& misfit);

// The time of a message of some size.
struct SizeTime {
  std::uint64_t bytes = 0;
  double ns = 0;
};

// Where a curve of times over sizes bends: the first sizes of as few pieces as make straight lines of it. The
// first is 0. `curve` in the order of sizes, one time each.
std::vector<std::uint64_t> find_pieces(std::span<const SizeTime> curve, std::size_t most, double tolerance);

}  // namespace parley::sim
