#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/schedule/operation.h"
#include "tools/sim/costing.h"
#include "tools/sim/trouble.h"

namespace parley::sim {

// A command line.
struct Options {
  std::string command;  // as it was typed
  bool wants_help = false;
  bool wants_version = false;

  schedule::Operation operation = schedule::Operation::all_reduce;
  std::vector<std::uint64_t> ranks;
  std::vector<std::uint64_t> bytes;
  std::uint64_t element_bytes = 4;
  std::vector<schedule::Algorithm> only;
  bool lends = false;

  // The network: one of the two, or each rank has a host.
  std::optional<std::uint64_t> hosts;
  std::optional<std::uint64_t> ranks_per_host;
  std::uint64_t rails = 1;
  std::uint64_t hosts_per_rack = 0;
  double oversubscription = 1;

  // What was said of the model; the rest is the library's, or calibrated.
  struct TierPrices {
    std::optional<double> latency_ns, byte_ns, message_ns;
  };
  TierPrices near, far;
  std::optional<double> uplink_ns, fold_byte_ns;
  std::string calibrate;  // a file

  Trouble trouble;
  std::uint64_t most_steps = std::uint64_t{12} << 20;
  std::string json, html, svg;
  bool shows_all = false;
  bool is_quiet = false;
};

// Throws UsageError: one sentence that says what is wrong and what would be right.
Options parse_options(int argc, const char* const* argv);

// The library's model, or the calibrated one, with what the command line says.
Model with_prices(Model model, const Options& options);

// Throws UsageError where the ranks cannot be laid out so.
Setting setting_for(const Options& options, const Model& model, std::uint64_t ranks);

}  // namespace parley::sim
