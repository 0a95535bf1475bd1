#pragma once

#include <span>

#include "api/schedule/blocks.h"
#include "api/schedule/entry.h"
#include "api/schedule/team.h"

namespace parley::schedule {

// Linear: every block travels once, straight from who has it to who needs it. One hop, but P-1 messages at
// one rank.
//   broadcast, scatter, gather, reduce   P-1 messages at the root
//   all_gather                           everyone with everyone: P-1 messages sent by each rank
//   all_reduce                           all_gather of all inputs, then everyone folds them: (P-1)n elements
//   sent reduce_scatter                       all_to_all, then everyone folds the pieces of its block:
//   n(P-1)/P
// Nothing but contributions travels; who needs a sum folds all of them in one step, in rank order. Takes
// scratch memory for all that is folded. `pairwise` all_reduce is linear reduce_scatter and then linear
// all_gather: 2(P-1) messages, 2n(P-1)/P elements.

// Block i of `at` is team index i's; at the end all hold all. This rank's block is read from `own` and
// written to its place, which may be the same.
void linear_all_gather(Builder& builder, const Team& team, const Blocks& at, const Slice& own);

// `result` := block me of all members' `from`, folded in the order of the team.
void linear_reduce_scatter(Builder& builder, const Team& team, const Blocks& from, const Slice& result);

std::span<const Entry> linear_entries();

}  // namespace parley::schedule
