#pragma once

#include <span>

#include "api/schedule/entry.h"

namespace parley::schedule {

// In memory that all ranks share: each shows the others what they want of it, and takes what it wants of
// them, itself. One mark of each rank to be awaited, for as much as a stage holds, or for a segment where one
// rank shows or takes it all.
//   all_reduce, reduce_scatter, reduce  who gets a result folds it from all ranks' contributions
//   broadcast, all_gather, gather, scatter, all_to_all  who gets a block copies it
//   barrier  all have entered the turn
// Where everyone lends, all_gather, scatter and all_to_all go in one piece (whole.h).
// Messages: none. Elements copied by a rank: what it shows, and what it copies for itself. Folded: (P-1)n by
// all_reduce on each rank, so it is for small counts and few ranks. Sums are one left fold in rank order, the
// same on all ranks; a 16-bit type rounds once. The idea is DeepSpeed's (csrc/cpu/comm/shm.cpp) and Open
// MPI's (coll/sm).
std::span<const Entry> flat_entries();

}  // namespace parley::schedule
