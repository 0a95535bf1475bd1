#pragma once

#include "bench/options.h"

namespace parley::bench {

// Measures over shared memory and over TCP in one run: two sets of processes on the same cores, one for each
// transport, whose rounds take turns; the other set sleeps meanwhile. Prints one table of both, and appends
// the JSON rows. Forks: the caller has one thread. Returns 0 or the exit code of a set that failed. Throws
// std::system_error, and std::runtime_error when the rows cannot be written.
int measure_two_transports(const Options& options);

}  // namespace parley::bench
