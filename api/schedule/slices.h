#pragma once

#include <span>

#include "api/schedule/entry.h"

namespace parley::schedule {

// In memory that all ranks share: each rank folds one slice of the vector from all ranks' contributions, and
// takes the others' from those who have folded them. Two marks of each rank to be awaited one after the
// other, for as much as a stage holds.
//   all_reduce, reduce
// Messages: none. Elements copied by a rank: at most n(P-1)/P shown, n taken; (P-1)n/P folded. Sums are one
// left fold in rank order, the same on all ranks; a 16-bit type rounds once. DeepSpeed
// (csrc/cpu/comm/shm.cpp) does it so from 1 MiB on. Where everyone lends, all goes in one piece: what another
// rank has just folded is still in its core's cache, which is slower to read than what has left it.
std::span<const Entry> slices_entries();

}  // namespace parley::schedule
