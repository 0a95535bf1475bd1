#pragma once

#include <cstddef>

#include "bench/op.h"

namespace parley::bench {

// The bandwidths of collectives as nccl-tests define them (github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md).
// Pure functions; MB are 1e6 bytes.

// Size over time, where the size is that of the largest buffer of a rank: of all blocks where there are
// blocks. REQUIRES: a collective that moves something; `bytes` as in CollectiveBuffers.
double algorithm_mb_per_s(Op op, std::size_t bytes, int ranks, double us) noexcept;

// What makes the bandwidth of a bus of it: how often each byte of that size goes through a rank's link, so
// that the product can be held against the link's speed whatever the number of ranks.
double bus_factor(Op op, int ranks) noexcept;

// How often that many `bytes` go from one rank to another at least, of all ranks together, whatever the
// algorithm: 2 (n - 1) for an all_reduce.
int crossings(Op op, int ranks) noexcept;

}  // namespace parley::bench
