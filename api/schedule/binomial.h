#pragma once

#include <span>

#include "api/schedule/entry.h"
#include "api/schedule/team.h"

namespace parley::schedule {

// Binomial tree: in every round all who have something send to one who has nothing (or the other way round),
// so that the number of those who are done doubles. ceil(log2 P) messages one after another.
//   broadcast, reduce   n elements each round
//   all_reduce          reduce to rank 0, then broadcast
// Partial sums travel in the element type, one hop a round; made at one rank only. The tree is that of the
// ranks counted from the root on, lower ones on the left: rank order if the root is 0. Thakur, Rabenseifner,
// Gropp: Optimization of collective communication operations in MPICH, IJHPCA 19(1), 2005.

// Index 0 has it in `from`; all others get it in `to`.
void binomial_broadcast(Builder& builder, const Team& team, const Slice& from, const Slice& to);

// `to` at index 0 := fold of all members' `from`, in the order of the team. The others need no `to`.
void binomial_reduce(Builder& builder, const Team& team, const Slice& from, const Slice& to);

std::span<const Entry> binomial_entries();

}  // namespace parley::schedule
