#pragma once

#include <span>

#include "api/schedule/entry.h"

namespace parley::schedule {

// Two levels: within each host, then between hosts, so that as little as can be crosses the slower links.
// With H hosts of up to L ranks:
//   two_level         one leader for each host: fewest messages.
//     broadcast       binomial trees: of the leaders, then within the hosts
//     reduce          the same upwards
//     all_reduce      reduce to the leaders, recursive doubling between them, broadcast
//     all_gather      gather to the leaders, ring between them, broadcast
//     barrier         assemble at the leaders, dissemination between them, release
//   two_level_sliced  all_reduce for long vectors: every rank leads for a slice. Linear reduce_scatter within
//   the host,
//                     Rabenseifner between those of all hosts that have the same slice, linear all_gather
//                     within the host. As many slices as the smallest host has ranks.
// Where the ranks of a host share memory, what they do within it is done there (host_phases.h): the leader,
// or who has the slice, folds from all in one step, and all copy from there. For more than one host with more
// than one rank somewhere; between hosts travels what one rank of a host has, not what all have. Partial sums
// travel in the element type; not rank order, as hosts need not be runs of ranks. Bayatpour, Chakraborty,
// Subramoni, Lu, Panda: Scalable reduction collectives with data partitioning-based multi-leader design, SC
// 2017; Traff, Hunold: Decomposing MPI collectives for exploiting multi-lane communication, CLUSTER 2020.
std::span<const Entry> two_level_entries();

// Whether an algorithm is one of these.
bool looks_at_hosts(Algorithm algorithm) noexcept;
// Whether it is, and its phases within the hosts need no messages.
bool shares_memory_on_hosts(Algorithm algorithm, const Shape& shape);

}  // namespace parley::schedule
