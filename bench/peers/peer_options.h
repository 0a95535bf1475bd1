#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/command_line.h"
#include "bench/op.h"

namespace parley::bench {

// A program that measures one library as parley-bench measures Parley.
struct PeerProgram {
  std::string_view name;                         // "peer-openmpi"
  std::string_view library;                      // "Open MPI"
  std::span<const std::string_view> transports;  // that the library has, the default first
};

// Its command line.
struct PeerOptions {
  Op op = Op::latency;
  int ranks = 2;
  std::string transport;
  std::vector<std::size_t> sizes;  // of a barrier: one of nothing
  int rounds = 21;
  double round_ms = 10;   // of one turn
  std::string json_file;  // empty: no JSON
  bool rewrite = false;   // buffers written anew before each exchange
  bool pin = true;        // each rank to a core of its own, where there are enough
};

// Nothing when help was asked for and printed. Throws CommandLineError.
std::optional<PeerOptions> parse_peer_options(const PeerProgram& program, int argc, const char* const* argv);

}  // namespace parley::bench
