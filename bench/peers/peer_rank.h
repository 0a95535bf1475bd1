#pragma once

#include <functional>
#include <memory>

#include "bench/library.h"
#include "bench/peers/peer_options.h"

namespace parley::bench {

// One rank's whole life: pins itself, so that each thread that the library starts stays with it, joins the
// others by making its peer, measures. Rank 0 prints a table on stdout and appends the JSON rows. Throws
// whatever went wrong.
void peer_rank(const PeerProgram& program, const PeerOptions& options, int rank,
               const std::function<std::unique_ptr<Library>()>& join);

// A program's main(): `run` gets its options and returns the exit code; errors are printed.
int peer_main(const PeerProgram& program, int argc, const char* const* argv,
              const std::function<int(const PeerOptions&)>& run);

}  // namespace parley::bench
