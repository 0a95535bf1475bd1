#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/command_line.h"
#include "bench/measurement.h"

namespace parley::bench {

class Relay;

// The command line.
// With `limits`, `sizes` may be empty: the usual ones of each operation.
struct Options : Measurement {
  bool limits = false;  // not the library, but the raw loops over shared memory alone, for all of `ops`
  std::vector<Op> ops;  // with `limits` as wanted, else `op`
  // Over shared memory: Parley's buffers in its arena; Parley without cross-memory copies.
  bool arena = false;
  bool no_cma = false;
  std::optional<int> ranks;  // not given: 2, or the world's size under a launcher
  bool tls = false;
  bool two_transports = false;  // shared memory and TCP, whose rounds take turns
  // With another run, which goes on between the rounds of this one and whose process shows the figures of
  // both. Borrowed; null: this run is alone.
  Relay* relay = nullptr;
  bool pin = true;  // each rank to one core; where there are fewer than ranks, some share theirs
  // Collectives: asynchronous calls that are waited for; the algorithm, instead of the library's choice;
  // all_reduce beside the same written by hand.
  bool async = false;
  std::string algorithm;
  bool nccl = false;  // collectives on devices: by NCCL, beside Parley's own
  bool by_hand = false;
};

// Nothing when help was asked for and printed. Throws CommandLineError.
std::optional<Options> parse_options(int argc, const char* const* argv);

}  // namespace parley::bench
