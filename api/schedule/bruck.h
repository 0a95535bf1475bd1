#pragma once

#include <span>

#include "api/schedule/entry.h"

namespace parley::schedule {

// Bruck: in round k everyone tells the one 2^k further (or before) of 2^k ranks at once: ceil(log2 P)
// messages one after another for every P, no power of two needed.
//   all_gather   n(P-1)/P elements sent (n: the whole result); then the blocks, which begin with this rank's,
//   are put
//                in place
//   all_reduce   all_gather of all inputs into scratch memory, then everyone folds them in one step, in rank
//   order:
//                (P-1)n elements sent, for small n
//   all_to_all   a block travels up to log2 P hops: (n/2)·log2 P elements sent (n: what a rank sends), for
//   small n;
//                even blocks only
// Nothing but contributions travels.
// Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications in multiport
// message-passing systems, IEEE TPDS 8(11), 1997.
std::span<const Entry> bruck_entries();

}  // namespace parley::schedule
