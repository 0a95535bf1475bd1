#pragma once

#include <span>

#include "api/schedule/entry.h"

namespace parley::schedule {

// Rooted: rank 0 does all the work.
//   all_reduce  rank 0 folds all inputs in one step, in rank order, and sends the result to all
// Two hops, 2(P-1) messages and 2(P-1)n elements at rank 0, scratch memory for P-1 vectors there; the others
// send and receive n. For ranks that share one device: there a second process that works costs a change of
// contexts, and the device's memory is the limit whoever uses it.
std::span<const Entry> rooted_entries();

}  // namespace parley::schedule
