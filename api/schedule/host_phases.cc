#include "api/schedule/host_phases.h"

#include <vector>

#include "api/schedule/binomial.h"
#include "api/schedule/flat_parts.h"
#include "api/schedule/linear.h"
#include "api/schedule/rank_blocks.h"
#include "api/schedule/rounds.h"

namespace parley::schedule {
namespace {

bool shares_memory(const Shape& shape, const Hosts& hosts) {
  return shape.stage_count >= hosts.largest();
}

std::uint64_t rounds_of(const Hosts& hosts) {
  return doubling_rounds(hosts.largest());
}

void add(Path& path, const Path& more) {
  path.messages += more.messages;
  path.elements += more.elements;
  path.hops += more.hops;
}

}  // namespace

bool shares_memory_on_hosts(const Shape& shape) {
  return shares_memory(shape, Hosts(shape));
}

std::uint32_t broadcast_on_host(Builder& builder, const Shape& shape, const Hosts& hosts, const Slice& from,
                                const Slice& to) {
  const Team local = hosts.local();
  if (!shares_memory(shape, hosts)) {
    binomial_broadcast(builder, local, from, to);
    return no_step;
  }
  if (local.size() == 1) return no_step;
  if (hosts.leads()) builder.may_lend(from.space == Space::input ? Loan::input : Loan::output);
  return flat_broadcast(builder, shape, local, from, to, shape.stage_count);
}

void reduce_on_host(Builder& builder, const Shape& shape, const Hosts& hosts, const Slice& to) {
  const Team local = hosts.local();
  if (!shares_memory(shape, hosts)) return binomial_reduce(builder, local, builder.input(), to);
  if (local.size() == 1) return;
  if (!hosts.leads()) builder.may_lend(Loan::input);
  flat_reduce(builder, shape, local, 0, builder.input(), to, shape.stage_count);
}

void gather_on_host(Builder& builder, const Shape& shape, const Hosts& hosts, const Slice& to) {
  const Team local = hosts.local();
  const std::vector<Slice> from = inputs_of(local, shape);
  std::vector<Slice> places(local.size());
  std::uint64_t at = 0;
  for (std::uint32_t index = 0; hosts.leads() && index < local.size(); ++index) {
    places[index] = to.part(at, from[index].count);
    at += from[index].count;
  }
  if (local.size() == 1) {
    builder.copy(from[0], places[0]);
  } else if (shares_memory(shape, hosts)) {
    if (!hosts.leads()) builder.may_lend(Loan::input);
    flat_gather(builder, shape, local, from, places, shape.stage_count);
  } else if (hosts.leads()) {
    builder.copy(from[0], places[0]);
    for (std::uint32_t index = 1; index < local.size(); ++index)
      builder.receive(local.rank(index), places[index]);
  } else {
    builder.send(local.rank(0), builder.input());
  }
}

void reduce_scatter_on_host(Builder& builder, const Shape& shape, const Hosts& hosts, const Blocks& from,
                            const Slice& to) {
  const Team local = hosts.local();
  if (local.size() == 1) return;
  if (!shares_memory(shape, hosts)) return linear_reduce_scatter(builder, local, from, to);
  builder.may_lend(Loan::input);
  flat_reduce_scatter(builder, shape, local, from, to);
}

void all_gather_on_host(Builder& builder, const Shape& shape, const Hosts& hosts, const Blocks& blocks) {
  const Team local = hosts.local();
  if (local.size() == 1) return;
  if (!shares_memory(shape, hosts)) return linear_all_gather(builder, local, blocks, blocks[local.me()]);
  builder.may_lend(Loan::output);
  std::vector<Slice> own;
  for (std::uint32_t index = 0; index < local.size(); ++index) own.push_back(blocks[index]);
  flat_all_gather(builder, shape, local, own, blocks);
}

Steps assemble_on_host(Builder& builder, const Shape& shape, const Hosts& hosts) {
  const Team local = hosts.local();
  if (!shares_memory(shape, hosts)) return assemble(builder, local);
  return local.size() == 1 ? Steps() : flat_assemble(builder, local);
}

void release_on_host(Builder& builder, const Shape& shape, const Hosts& hosts, const Steps& before) {
  const Team local = hosts.local();
  if (!shares_memory(shape, hosts)) {
    release(builder, local, before);
  } else if (local.size() > 1) {
    flat_release(builder, local, before);
  }
}

void add_broadcast_on_host(Cost& cost, const Shape& shape, const Hosts& hosts, std::uint64_t count) {
  if (shares_memory(shape, hosts)) return add(cost.shared, flat_broadcast_path(count, shape.stage_count));
  const std::uint64_t rounds = rounds_of(hosts);
  add(cost.near, {rounds, rounds * count, rounds});
  cost.sent += rounds * count;
}

void add_reduce_on_host(Cost& cost, const Shape& shape, const Hosts& hosts) {
  const std::uint64_t rounds = rounds_of(hosts);
  if (shares_memory(shape, hosts)) {
    add(cost.shared, shared_path(shape.count, shape.stage_count, shape.count));
    cost.reduced += (hosts.largest() - 1) * shape.count;
  } else {
    add(cost.near, {rounds, rounds * shape.count, rounds});
    cost.reduced += rounds * shape.count;
  }
}

void add_gather_on_host(Cost& cost, const Shape& shape, const Hosts& hosts) {
  const std::uint64_t largest = largest_block(shape), members = hosts.largest(), others = members - 1;
  if (shares_memory(shape, hosts))
    add(cost.shared, flat_gather_path(members, largest, members * largest, shape.stage_count));
  else
    add(cost.near, {others, others * largest, 1});
}

void add_reduce_scatter_and_all_gather_on_host(Cost& cost, const Shape& shape, const Hosts& hosts,
                                               std::uint64_t largest) {
  const std::uint64_t members = hosts.largest(), others = members - 1;
  cost.reduced += others * largest;
  if (shares_memory(shape, hosts)) {
    add(cost.shared, flat_reduce_scatter_path(shape, members, largest, shape.count));
    return add(cost.shared, flat_all_gather_path(shape, members, largest, shape.count));
  }
  // One message more in each phase: ranks are ahead of each other, those without a slice most of all.
  add(cost.near, {2 * others + 2, (2 * others + 2) * largest, 2});
  cost.sent += shape.count + others * largest;
}

void add_barrier_on_host(Cost& cost, const Shape& shape, const Hosts& hosts) {
  const std::uint64_t rounds = rounds_of(hosts);
  if (shares_memory(shape, hosts))
    add(cost.shared, {.messages = 2, .hops = 2});
  else
    add(cost.near, {2 * rounds, 0, 2 * rounds});
}

}  // namespace parley::schedule
