#pragma once

#include <span>

#include "api/schedule/entry.h"

namespace parley::schedule {

// Prefix sums over the ranks; the pipelined ones are in chain.h. All keep rank order.
//   linear               everyone sends its input to all higher ranks, which fold what they get in one step:
//   P-1
//                        messages, (P-1)n elements sent by rank 0. Nothing but contributions travels.
//   recursive_doubling   in round k everyone sends the sum of the 2^k ranks up to itself to the one 2^k
//   further:
//                        ceil(log2 P) messages, n elements each. Partial sums in the element type, one hop a
//                        round.
// Hillis, Steele: Data parallel algorithms, CACM 29(12), 1986.
std::span<const Entry> scan_entries();

}  // namespace parley::schedule
