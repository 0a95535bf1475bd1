#pragma once

#include <cstdint>

#include "api/schedule/barriers.h"
#include "api/schedule/blocks.h"
#include "api/schedule/builder.h"
#include "api/schedule/cost.h"
#include "api/schedule/hosts.h"
#include "api/schedule/shape.h"

namespace parley::schedule {

// What two-level algorithms do within each host: in memory that its ranks share, where they do
// (flat_parts.h), and else by messages (binomial.h, linear.h, barriers.h). Index 0 is a host's leader. Slices
// are named as their owner has them. On a host of one rank nothing is done.

// Whether they do so in memory. The same on all ranks.
bool shares_memory_on_hosts(const Shape& shape);

// The leader has it in `from`; all others get it in `to`. Returns as flat_broadcast().
std::uint32_t broadcast_on_host(Builder& builder, const Shape& shape, const Hosts& hosts, const Slice& from,
                                const Slice& to);
// `to` at the leader := fold of all members' inputs.
void reduce_on_host(Builder& builder, const Shape& shape, const Hosts& hosts, const Slice& to);
// The leader gets all members' inputs in `to`, one after another; its own on a host of one rank, too.
void gather_on_host(Builder& builder, const Shape& shape, const Hosts& hosts, const Slice& to);
// `to` := block me of all members' `from`.
void reduce_scatter_on_host(Builder& builder, const Shape& shape, const Hosts& hosts, const Blocks& from,
                            const Slice& to);
// All members get all blocks, of which each has its own in its place.
void all_gather_on_host(Builder& builder, const Shape& shape, const Hosts& hosts, const Blocks& blocks);
// At the leader: all members came. The leader lets them go, after `before`.
Steps assemble_on_host(Builder& builder, const Shape& shape, const Hosts& hosts);
void release_on_host(Builder& builder, const Shape& shape, const Hosts& hosts, const Steps& before);

// What they add to the cost of an algorithm.
void add_broadcast_on_host(Cost& cost, const Shape& shape, const Hosts& hosts, std::uint64_t count);
void add_reduce_on_host(Cost& cost, const Shape& shape, const Hosts& hosts);
void add_gather_on_host(Cost& cost, const Shape& shape, const Hosts& hosts);
// Both, of blocks of at most `largest` elements.
void add_reduce_scatter_and_all_gather_on_host(Cost& cost, const Shape& shape, const Hosts& hosts,
                                               std::uint64_t largest);
void add_barrier_on_host(Cost& cost, const Shape& shape, const Hosts& hosts);

}  // namespace parley::schedule
