#pragma once

#include <span>

#include "api/schedule/entry.h"
#include "api/schedule/team.h"

namespace parley::schedule {

// Halving: in every round two partners split what they both have a sum of, so messages get shorter and
// shorter. log2 P messages and n(P-1)/P elements for a sum of which everyone has a part.
//   reduce_scatter, recursive_halving   partners far apart first, so each rank ends with its own block; not
//   rank order all_reduce, rabenseifner            neighbours first (the largest messages go the shortest
//   way), then all_gather
//                                       by doubling, the same way back: 2·log2 P messages, 2n(P-1)/P
//                                       elements; keeps rank order
//   reduce, rabenseifner                the same, but only towards the root: n(P-1)/P elements more at most
// No power of two (fold_extra.h): messages of all elements, one for reduce, two for the others.
// Partial sums travel in the element type, one hop a round; each element is summed at one rank only.
// Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, IJHPCA 19(1),
// 2005; Rabenseifner: Optimization of collective reduction operations, ICCS 2004.

// `to` := the fold of all members' `from`, in the order of the team.
void rabenseifner_all_reduce(Builder& builder, const Team& team, const Slice& from, const Slice& to);
// The cost for `size` members and `count` elements.
Cost rabenseifner_all_reduce_cost(std::uint32_t size, std::uint64_t count);

std::span<const Entry> halving_entries();

}  // namespace parley::schedule
