#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/op.h"

namespace parley::bench::tune {

// The command line of `parley-bench tune`.
struct TuneOptions {
  std::vector<int> ranks = {2, 4};
  std::string transport = "shm";  // or "tcp"
  std::vector<std::size_t> sizes = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20};
  std::vector<Op> ops;  // collectives
  int rounds = 15;
  double round_ms = 5;
  std::string output;  // empty: stdout
  bool quiet = false;
};

// Nothing when help is asked for. Throws CommandLineError.
std::optional<TuneOptions> parse_tune_options(const std::vector<std::string>& arguments);

// What `parley-bench tune --help` prints: a page in the manner of man(1).
std::string_view tune_manual() noexcept;

}  // namespace parley::bench::tune
