#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bench/command_line.h"
#include "bench/measurement.h"

namespace parley::bench {

// A program that measures one library as parley-bench measures Parley.
struct PeerProgram {
  std::string_view name;                         // "peer-openmpi"
  std::string_view library;                      // "Open MPI"
  std::span<const std::string_view> transports;  // that the library has, the default first
  std::string (*version)();                      // for --version: "Open MPI v4.1.4"
};

// Its command line.
struct PeerOptions : Measurement {
  int ranks = 2;
  bool pin = true;  // each rank to one core; where there are fewer than ranks, some share theirs
};

// Nothing when help or the version was asked for and printed. Throws CommandLineError.
std::optional<PeerOptions> parse_peer_options(const PeerProgram& program, int argc, const char* const* argv);

}  // namespace parley::bench
