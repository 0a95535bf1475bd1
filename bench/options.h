#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/command_line.h"
#include "bench/op.h"

namespace parley::bench {

// The command line.
struct Options {
  Op op = Op::latency;
  bool limits = false;   // not the library, but the raw loops over shared memory alone, for all of `ops`
  std::vector<Op> ops;   // with `limits` as wanted, else `op`
  bool rewrite = false;  // senders' buffers written anew before each exchange
  // Over shared memory: Parley's buffers in its arena; Parley without cross-memory copies.
  bool arena = false;
  bool no_cma = false;
  std::optional<int> ranks;       // not given: 2, or the world's size under a launcher
  std::string transport = "tcp";  // "tcp+tls" with `tls`, "shm": how the rows call it
  bool tls = false;
  std::vector<std::size_t> sizes;  // with `limits`, empty: the usual ones of each operation
  std::string json_file;           // empty: no JSON
  int rounds = 21;
  // Of one system's turn in a round. Short, so that both systems of a round meet the machine in one mode.
  double round_ms = 10;
  std::optional<bool> pin;  // not given: when there is a core for each rank
};

// Nothing when help was asked for and printed. Throws CommandLineError.
std::optional<Options> parse_options(int argc, const char* const* argv);

}  // namespace parley::bench
