#pragma once

#include <span>

#include "api/schedule/entry.h"

namespace parley::schedule {

// Binary tree, pipelined: each rank hands segment after segment on to two others (broadcast), or folds those
// of two others into its own (reduce). With D = floor(log2 P) levels and S segments about 2(D+S-1) messages
// one after another: a shorter pipe than the chain's, at twice the traffic: 2n elements sent or received by
// each rank. Partial sums travel in the element type, D hops; not rank order. Pjesivac-Grbovic, Angskun,
// Bosilca et al.: Performance analysis of MPI collective operations, Cluster Computing 10(2), 2007.
std::span<const Entry> binary_tree_entries();

}  // namespace parley::schedule
