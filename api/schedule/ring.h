#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "api/schedule/blocks.h"
#include "api/schedule/entry.h"
#include "api/schedule/team.h"

namespace parley::schedule {

// Ring: everyone sends to the next and receives from the previous one, P-1 times. Least traffic there is, and
// only between neighbours; many messages one after another.
//   reduce_scatter, all_gather   P-1 messages, n(P-1)/P elements sent by each rank
//   all_reduce                   reduce_scatter, then all_gather: 2(P-1) messages, 2n(P-1)/P elements
// `segmented_ring` cuts each block into segments of Shape::segment_count, so that a segment is folded while
// the next one travels. Partial sums travel in the element type, P-1 hops. Each block is summed once, around
// the ring, beginning with the rank after its owner: same bits everywhere, not rank order. Patarasu, Yuan:
// Bandwidth optimal all-reduce algorithms for clusters of workstations, JPDC 69(2), 2009.

// Team index i ends with the sum of block i in `result`. Partial sums of block b lie in (*partial)[b], or in
// scratch memory of two blocks.
void ring_reduce_scatter(Builder& builder, const Team& team, const Blocks& from,
                         const std::optional<Blocks>& partial, const Slice& result,
                         std::uint64_t segment = 0);

// Block i of `at` is team index i's; at the end all hold all. This rank's block is read from `own` and
// written to its place, which may be the same.
void ring_all_gather(Builder& builder, const Team& team, const Blocks& at, const Slice& own,
                     std::uint64_t segment = 0);

std::span<const Entry> ring_entries();

}  // namespace parley::schedule
