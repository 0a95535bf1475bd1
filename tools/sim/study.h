#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sim/calibration.h"
#include "tools/sim/contest.h"
#include "tools/sim/options.h"

namespace parley::sim {

// Everything that one run has found: what all reports are made of.
struct Study {
  Options options;
  Model model;
  std::optional<Calibration> calibration = {};
  std::vector<Contest> contests = {};  // by ranks, then by bytes
};

// Costs all that the options ask for. Throws UsageError.
Study conduct(const Options& options);

// The contests of one number of ranks.
std::vector<std::span<const Contest>> by_ranks(const Study& study);

// "64 ranks on 8 hosts of 8, ..."; "24.0 us", "~24.0 us" (evened), "<24.0 us" (promised).
std::string network_text(const Network& network);
std::string figure_text(const Figure& figure);
// "segmented_ring in 32 KiB"
std::string algorithm_text(const schedule::Candidate& candidate, std::uint64_t element_bytes);
// Where each algorithm is the fastest: "recursive_doubling 8 B to 4 KiB, ring from 8 KiB".
std::string winners_text(std::span<const Contest> contests);
// What the marks at figures mean, where there are any; else empty.
std::string marks_text(const Study& study);

}  // namespace parley::sim
