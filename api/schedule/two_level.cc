#include "api/schedule/two_level.h"

#include <algorithm>
#include <vector>

#include "api/schedule/barriers.h"
#include "api/schedule/binomial.h"
#include "api/schedule/blocks.h"
#include "api/schedule/fold_extra.h"
#include "api/schedule/halving.h"
#include "api/schedule/host_phases.h"
#include "api/schedule/hosts.h"
#include "api/schedule/rank_blocks.h"
#include "api/schedule/recursive_doubling.h"
#include "api/schedule/ring.h"
#include "api/schedule/rounds.h"

namespace parley::schedule {
namespace {

bool has_two_levels(const Shape& shape) {
  const std::uint32_t hosts = host_count(shape);
  return hosts > 1 && hosts < shape.size;
}

std::uint64_t leader_rounds(const Hosts& hosts) {
  return doubling_rounds(hosts.size());
}

void broadcast(Builder& builder, const Shape& shape) {
  const Hosts hosts(shape, shape.root);
  const Slice held = shape.rank == shape.root ? builder.input() : builder.output();
  if (hosts.leads()) binomial_broadcast(builder, hosts.across(), held, held);
  const Space at_leader = hosts.mine() == 0 ? Space::input : Space::output;  // the first host has the root
  const std::uint32_t shown = broadcast_on_host(builder, shape, hosts, {at_leader, 0, shape.count}, held);
  if (shape.rank == shape.root) builder.order(shown, builder.copy(held, builder.output()));
  builder.end_loans();
}

Cost broadcast_cost(const Shape& shape) {
  const Hosts hosts(shape, shape.root);
  const std::uint64_t far = leader_rounds(hosts);
  Cost cost{.far = {far, far * shape.count}, .sent = far * shape.count};
  add_broadcast_on_host(cost, shape, hosts, shape.count);
  return cost;
}

void reduce(Builder& builder, const Shape& shape) {
  const Hosts hosts(shape, shape.root);
  if (!hosts.leads()) {
    reduce_on_host(builder, shape, hosts, {});
    return builder.end_loans();
  }
  const bool has_others = hosts.members(hosts.mine()).size() > 1;
  const Slice to =
      shape.rank == shape.root ? builder.output() : builder.scratch(has_others ? shape.count : 0);
  if (has_others) reduce_on_host(builder, shape, hosts, to);
  binomial_reduce(builder, hosts.across(), has_others ? to : builder.input(), builder.output());
  builder.end_loans();
}

Cost reduce_cost(const Shape& shape) {
  const Hosts hosts(shape, shape.root);
  const std::uint64_t far = leader_rounds(hosts);
  Cost cost{.far = {far, far * shape.count}, .sent = shape.count, .reduced = far * shape.count};
  add_reduce_on_host(cost, shape, hosts);
  return cost;
}

void all_reduce(Builder& builder, const Shape& shape) {
  const Hosts hosts(shape);
  reduce_on_host(builder, shape, hosts, builder.output());
  if (hosts.leads()) {
    const bool has_others = hosts.members(hosts.mine()).size() > 1;
    recursive_doubling_all_reduce(builder, hosts.across(), has_others ? builder.output() : builder.input(),
                                  builder.output());
  }
  broadcast_on_host(builder, shape, hosts, builder.output(), builder.output());
  builder.end_loans();
}

Cost all_reduce_cost(const Shape& shape) {
  const Hosts hosts(shape);
  const FoldExtra fold(hosts.size());
  const std::uint64_t extra = fold.extra() > 0 ? 1 : 0;
  // Without a power of two one leader waits for more than others do, who may be ahead of it by a message.
  const std::uint64_t far = fold.rounds() + 3 * extra;
  const std::uint64_t messages = fold.rounds() + extra;
  Cost cost{
      .far = {far, far * shape.count}, .sent = messages * shape.count, .reduced = messages * shape.count};
  add_reduce_on_host(cost, shape, hosts);
  add_broadcast_on_host(cost, shape, hosts, shape.count);
  return cost;
}

void sliced_all_reduce(Builder& builder, const Shape& shape) {
  const Hosts hosts(shape);
  const Team local = hosts.local();
  // The first ranks of each host have a slice, the others an empty one.
  const std::uint32_t slices = hosts.smallest();
  const Blocks cut(builder.output(), slices);
  std::vector<std::uint64_t> counts(local.size(), 0);
  for (std::uint32_t i = 0; i < slices; ++i) counts[i] = cut[i].count;
  const Blocks in(builder.input(), counts), out(builder.output(), counts);
  const Slice mine = out[local.me()];
  reduce_scatter_on_host(builder, shape, hosts, in, mine);
  if (local.me() < slices)
    rabenseifner_all_reduce(builder, hosts.across(), local.size() > 1 ? mine : in[local.me()], mine);
  all_gather_on_host(builder, shape, hosts, out);
  builder.end_loans();
}

Cost sliced_all_reduce_cost(const Shape& shape) {
  const Hosts hosts(shape);
  const std::uint64_t slice = divide_up(shape.count, hosts.smallest());
  Cost across = rabenseifner_all_reduce_cost(hosts.size(), slice);
  if (FoldExtra(hosts.size()).extra() > 0) {
    ++across.near.messages;  // see above
    across.near.elements += slice;
  }
  Cost cost{.far = across.near, .sent = across.sent, .reduced = across.reduced};
  add_reduce_scatter_and_all_gather_on_host(cost, shape, hosts, slice);
  return cost;
}

// The blocks of all hosts one after another, in the output itself where hosts are runs of ranks.
struct HostOrder {
  bool is_rank_order = true;
  std::vector<std::uint64_t> counts;  // of each host
};

HostOrder host_order(const Hosts& hosts, const Shape& shape) {
  HostOrder order;
  std::uint32_t next = 0;
  for (std::uint32_t host = 0; host < hosts.size(); ++host) {
    order.counts.push_back(0);
    for (const std::uint32_t rank : hosts.members(host)) {
      order.is_rank_order = order.is_rank_order && rank == next++;
      order.counts.back() += block_count(shape, rank);
    }
  }
  return order;
}

void gather_by_leader(Builder& builder, const Shape& shape, const Hosts& hosts) {
  const HostOrder order = host_order(hosts, shape);
  const Slice output = builder.output();
  const Slice whole = order.is_rank_order ? output : builder.scratch(output.count);
  const Blocks by_host(whole, order.counts);
  gather_on_host(builder, shape, hosts, by_host[hosts.mine()]);
  ring_all_gather(builder, hosts.across(), by_host, by_host[hosts.mine()]);
  if (order.is_rank_order) return;
  const Blocks by_rank = rank_blocks(output, shape);
  std::uint64_t at = 0;
  for (std::uint32_t host = 0; host < hosts.size(); ++host)
    for (const std::uint32_t rank : hosts.members(host)) {
      builder.copy(whole.part(at, by_rank[rank].count), by_rank[rank]);
      at += by_rank[rank].count;
    }
}

void all_gather(Builder& builder, const Shape& shape) {
  const Hosts hosts(shape);
  if (hosts.leads())
    gather_by_leader(builder, shape, hosts);
  else
    gather_on_host(builder, shape, hosts, {});
  broadcast_on_host(builder, shape, hosts, builder.output(), builder.output());
  builder.end_loans();
}

Cost all_gather_cost(const Shape& shape) {
  const Hosts hosts(shape);
  const std::vector<std::uint64_t> counts = host_order(hosts, shape).counts;
  const std::uint64_t total = total_count(shape), hops = hosts.size() - 1;
  const std::uint64_t host = *std::max_element(counts.begin(), counts.end());
  Cost cost{.far = {hops, hops * host}, .sent = std::min(hops * host, total)};
  add_gather_on_host(cost, shape, hosts);
  add_broadcast_on_host(cost, shape, hosts, total);
  return cost;
}

void barrier(Builder& builder, const Shape& shape) {
  const Hosts hosts(shape);
  Steps came = assemble_on_host(builder, shape, hosts);
  if (hosts.leads()) came = disseminate(builder, hosts.across(), came);
  release_on_host(builder, shape, hosts, came);
}

Cost barrier_cost(const Shape& shape) {
  const Hosts hosts(shape);
  Cost cost{.far = {leader_rounds(hosts), 0}};
  add_barrier_on_host(cost, shape, hosts);
  return cost;
}

constexpr Order any = Order::any;
constexpr Entry entries[] = {
    {Operation::broadcast, Algorithm::two_level, broadcast, broadcast_cost, Order::rank, false,
     has_two_levels},
    {Operation::reduce, Algorithm::two_level, reduce, reduce_cost, any, false, has_two_levels},
    {Operation::all_reduce, Algorithm::two_level, all_reduce, all_reduce_cost, any, false, has_two_levels},
    {Operation::all_gather, Algorithm::two_level, all_gather, all_gather_cost, Order::rank, false,
     has_two_levels},
    {Operation::barrier, Algorithm::two_level, barrier, barrier_cost, Order::rank, false, has_two_levels},
    {Operation::all_reduce, Algorithm::two_level_sliced, sliced_all_reduce, sliced_all_reduce_cost, any,
     false, has_two_levels},
};

}  // namespace

std::span<const Entry> two_level_entries() {
  return entries;
}

bool looks_at_hosts(Algorithm algorithm) noexcept {
  return algorithm == Algorithm::two_level || algorithm == Algorithm::two_level_sliced;
}

bool shares_memory_on_hosts(Algorithm algorithm, const Shape& shape) {
  return looks_at_hosts(algorithm) && shares_memory_on_hosts(shape);
}

}  // namespace parley::schedule
