#pragma once

#include <span>

#include "api/schedule/entry.h"

namespace parley::schedule {

// Exchanges of a block with everyone.
//   all_to_all, linear     everything is begun at once: P-1 messages in flight at each rank
//   all_to_all, pairwise   in round i rank r sends to r+i and receives from r-i; the next round begins when
//   both are
//                          done, so nobody is sent to by two at once
//   reduce_scatter, pairwise  the same rounds, each block folded when it comes: scratch memory of two blocks
// P-1 messages and n(P-1)/P elements sent by each rank. In place an all_to_all needs scratch memory of its
// size. The sums of reduce_scatter stay where they are; each starts at its owner and takes the ranks below it
// downwards: not rank order. Thakur, Rabenseifner, Gropp: Optimization of collective communication operations
// in MPICH, IJHPCA 19(1), 2005.
std::span<const Entry> exchange_entries();

}  // namespace parley::schedule
