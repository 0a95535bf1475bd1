#pragma once

#include <span>

#include "api/schedule/blocks.h"
#include "api/schedule/entry.h"
#include "api/schedule/team.h"

namespace parley::schedule {

// Scatter and gather along a binomial tree: a whole subtree's blocks travel in one message. ceil(log2 P)
// messages one after another, P-1 blocks sent or received by the root. Ranks between the root and the leaves
// need scratch memory for their subtree.
//
// Broadcast as `scatter_ring`: scatter the vector, then all_gather it around the ring: ceil(log2 P) + P-1
// messages, and about 2n elements one after another instead of n·log2 P; the root sends 2n(P-1)/P. Thakur,
// Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, IJHPCA 19(1), 2005; the
// broadcast: van de Geijn, Watts: SUMMA, Concurrency 9(4), 1997.

// The indices of the subtree under `index` are [index, subtree_end).
std::uint32_t subtree_end(std::uint32_t index, std::uint32_t size) noexcept;

std::span<const Entry> subtree_entries();

}  // namespace parley::schedule
