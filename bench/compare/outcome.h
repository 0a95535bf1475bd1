#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/compare/ratio.h"
#include "bench/compare/sample.h"
#include "bench/probe.h"

namespace parley::bench::compare {

// The library's own place among the systems, and that of its limit.
inline constexpr const char* library_name = "parley";
inline constexpr const char* limit_name = "raw";

// What one system reached in one line. Medians and extremes are over its launches, one in each round.
struct Entry {
  std::string system;
  double median_us = 0;
  double lo_us = 0;
  double hi_us = 0;
  std::optional<double> p99_us;  // the median of the launches' own
  std::optional<double> p999_us;
  std::optional<double> core_share;        // the least of them
  std::optional<std::size_t> wrong;        // elements of a collective, of all launches
  std::vector<Sample> samples;             // those that count, in the order of rounds
  int left_out = 0;                        // void or disturbed
  std::optional<std::string> void_reason;  // no sample counts: the figures are nothing

  [[nodiscard]] bool has_figures() const noexcept { return !samples.empty(); }
};

// All systems at one size.
struct Line {
  Case where;
  std::size_t bytes = 0;
  std::vector<Entry> entries;  // the library, the peers, the limit; those that gave rows
  std::optional<std::string> best_peer;
  // Times of the library over those of the best peer and of the limit, paired by rounds.
  std::optional<Ratio> to_peer;
  std::optional<Ratio> to_limit;
  // Where the cores were; `mixed` marks the line. Nothing with more ranks than cores, where they take turns.
  std::optional<Mode> mode;
  double probe_ns = 0;  // the median over all samples
  // Something else used the cores in most rounds of the library's or the best peer's: use no figure of this
  // line.
  bool disturbed = false;

  [[nodiscard]] const Entry* find(std::string_view system) const noexcept;
};

// How samples are judged.
struct Judging {
  int cores = 2;                   // that the ranks share
  bool shows_limit = true;         // whether the limit is a system of the comparison
  std::vector<std::string> order;  // of peers in a line: contenders; systems that are none follow
};

// One line for each case and size, in the order of operations, then of first appearance.
//
// A sample that is void does not count. One in which a rank's core was taken does not count while a third or
// more of its system's samples were undisturbed. Ratios pair the library and another system round by round;
// rounds in which the two met the cores in different places are not paired.
std::vector<Line> judge_samples(std::span<const Sample> samples, const Judging& judging);

}  // namespace parley::bench::compare
