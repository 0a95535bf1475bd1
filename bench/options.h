#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/op.h"

namespace parley::bench {

// The command line.
struct Options {
  Op op = Op::latency;
  std::optional<int> ranks;  // not given: 2, or the world's size under a launcher
  std::string transport = "tcp";
  std::vector<std::size_t> sizes;
  std::string json_file;  // empty: no JSON
  int rounds = 21;
  // Of one system's turn in a round. Short, so that both systems of a round meet the machine in one mode.
  double round_ms = 10;
  std::optional<bool> pin;  // not given: when there is a core for each rank
};

// What became of a command line: options to run with, or the exit code to leave with (help or an error was
// printed).
struct ParsedOptions {
  std::optional<Options> options;
  int exit_code = 0;
};

ParsedOptions parse_options(int argc, const char* const* argv);

// Pairs of ranks talk, so their number is even and at least 2. Throws std::invalid_argument.
void check_ranks(int ranks);

}  // namespace parley::bench
