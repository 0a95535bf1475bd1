#pragma once

#include <span>

#include "api/schedule/entry.h"

namespace parley::schedule {

// Chain, pipelined: each rank hands segment after segment of Shape::segment_count elements on to the next, so
// the chain is filled once and then every link is busy: P-2+S messages one after another for S segments, n
// elements sent by each rank, only between neighbours.
//   broadcast      from the root on
//   reduce         towards the root, each rank folding its own input on the left; rank order if the root is 0
//   scan, exscan   from rank 0 on, each rank folding its own input on the right: the left fold itself
// Partial sums travel in the element type, up to P-1 hops. Scratch memory of two segments.
// Traff, Ripke, Siebert et al.: A simple, pipelined algorithm for large, irregular all-gather problems,
// EuroPVM/MPI 2008 (the linear pipeline); Sanders, Traff: Parallel prefix (scan) algorithms for MPI,
// EuroPVM/MPI 2006.
std::span<const Entry> chain_entries();

}  // namespace parley::schedule
