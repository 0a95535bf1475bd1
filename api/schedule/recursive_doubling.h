#pragma once

#include <span>

#include "api/schedule/entry.h"
#include "api/schedule/team.h"

namespace parley::schedule {

// Recursive doubling: in round k everyone exchanges all it has with the one at distance 2^k, so after log2 P
// rounds all have all. Fewest messages one after another.
//   all_reduce   ceil(log2 P) messages and n·log2 P elements sent by each rank; keeps rank order
//   all_gather   the same number of messages, n(P-1)/P elements (n: the whole result)
// No power of two (fold_extra.h): two messages more, of all elements.
// Partial sums travel in the element type, one hop a round. Both partners fold the lower ranks' sum on the
// left: the same bits everywhere. Thakur, Rabenseifner, Gropp: Optimization of collective communication
// operations in MPICH, IJHPCA 19(1), 2005.

// `to` := the fold of all members' `from`, in the order of the team.
void recursive_doubling_all_reduce(Builder& builder, const Team& team, const Slice& from, const Slice& to);

std::span<const Entry> recursive_doubling_entries();

}  // namespace parley::schedule
