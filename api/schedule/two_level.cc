#include "api/schedule/two_level.h"

#include <algorithm>
#include <vector>

#include "api/schedule/barriers.h"
#include "api/schedule/binomial.h"
#include "api/schedule/blocks.h"
#include "api/schedule/fold_extra.h"
#include "api/schedule/halving.h"
#include "api/schedule/hosts.h"
#include "api/schedule/linear.h"
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

std::uint64_t local_rounds(const Hosts& hosts) {
  return doubling_rounds(hosts.largest());
}
std::uint64_t leader_rounds(const Hosts& hosts) {
  return doubling_rounds(hosts.size());
}

void broadcast(Builder& builder, const Shape& shape) {
  const Hosts hosts(shape, shape.root);
  const Slice held = shape.rank == shape.root ? builder.input() : builder.output();
  if (hosts.leads()) binomial_broadcast(builder, hosts.across(), held, held);
  binomial_broadcast(builder, hosts.local(), held, held);
  if (shape.rank == shape.root) builder.copy(held, builder.output());
}

Cost broadcast_cost(const Shape& shape) {
  const Hosts hosts(shape, shape.root);
  const std::uint64_t near = local_rounds(hosts), far = leader_rounds(hosts);
  return {.near = {near, near * shape.count},
          .far = {far, far * shape.count},
          .sent = (near + far) * shape.count};
}

void reduce(Builder& builder, const Shape& shape) {
  const Hosts hosts(shape, shape.root);
  const bool is_root = shape.rank == shape.root;
  if (!hosts.leads()) return binomial_reduce(builder, hosts.local(), builder.input(), {});
  const bool has_others = hosts.members(hosts.mine()).size() > 1;
  const Slice to = is_root ? builder.output() : builder.scratch(has_others ? shape.count : 0);
  binomial_reduce(builder, hosts.local(), builder.input(), to);
  binomial_reduce(builder, hosts.across(), has_others ? to : builder.input(), builder.output());
}

Cost reduce_cost(const Shape& shape) {
  const Hosts hosts(shape, shape.root);
  const std::uint64_t near = local_rounds(hosts), far = leader_rounds(hosts);
  return {.near = {near, near * shape.count},
          .far = {far, far * shape.count},
          .sent = shape.count,
          .reduced = (near + far) * shape.count};
}

void all_reduce(Builder& builder, const Shape& shape) {
  const Hosts hosts(shape);
  const Team local = hosts.local();
  binomial_reduce(builder, local, builder.input(), builder.output());
  if (hosts.leads())
    recursive_doubling_all_reduce(builder, hosts.across(),
                                  local.size() > 1 ? builder.output() : builder.input(), builder.output());
  binomial_broadcast(builder, local, builder.output(), builder.output());
}

Cost all_reduce_cost(const Shape& shape) {
  const Hosts hosts(shape);
  const FoldExtra fold(hosts.size());
  const std::uint64_t near = 2 * local_rounds(hosts);
  const std::uint64_t extra = fold.extra() > 0 ? 1 : 0;
  // Without a power of two one leader waits for more than others do, who may be ahead of it by a message.
  const std::uint64_t far = fold.rounds() + 3 * extra;
  return {.near = {near, near * shape.count},
          .far = {far, far * shape.count},
          .sent = (local_rounds(hosts) + fold.rounds() + extra) * shape.count,
          .reduced = (local_rounds(hosts) + fold.rounds() + extra) * shape.count};
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
  linear_reduce_scatter(builder, local, in, mine);
  if (local.me() < slices)
    rabenseifner_all_reduce(builder, hosts.across(), local.size() > 1 ? mine : in[local.me()], mine);
  linear_all_gather(builder, local, out, mine);
}

Cost sliced_all_reduce_cost(const Shape& shape) {
  const Hosts hosts(shape);
  const std::uint64_t others = hosts.largest() - 1;
  const std::uint64_t slice = divide_up(shape.count, hosts.smallest());
  Cost across = rabenseifner_all_reduce_cost(hosts.size(), slice);
  if (FoldExtra(hosts.size()).extra() > 0) {
    ++across.near.messages;  // see above
    across.near.elements += slice;
  }
  // One message more in each phase: ranks are ahead of each other, those without a slice most of all.
  return {.near = {2 * others + 2, (2 * others + 2) * slice, 2},
          .far = across.near,
          .sent = shape.count + others * slice + across.sent,
          .reduced = others * slice + across.reduced};
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
  std::uint64_t at = 0;
  for (const std::uint32_t rank : hosts.members(hosts.mine())) {
    const Slice place = by_host[hosts.mine()].part(at, block_count(shape, rank));
    if (rank == shape.rank)
      builder.copy(builder.input(), place);
    else
      builder.receive(rank, place);
    at += place.count;
  }
  ring_all_gather(builder, hosts.across(), by_host, by_host[hosts.mine()]);
  if (order.is_rank_order) return;
  const Blocks by_rank = rank_blocks(output, shape);
  at = 0;
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
    builder.send(hosts.members(hosts.mine()).front(), builder.input());
  binomial_broadcast(builder, hosts.local(), builder.output(), builder.output());
}

Cost all_gather_cost(const Shape& shape) {
  const Hosts hosts(shape);
  const std::vector<std::uint64_t> counts = host_order(hosts, shape).counts;
  const std::uint64_t total = total_count(shape), others = hosts.largest() - 1, hops = hosts.size() - 1;
  const std::uint64_t host = *std::max_element(counts.begin(), counts.end());
  return {.near = {others + local_rounds(hosts), others * largest_block(shape) + local_rounds(hosts) * total,
                   1 + local_rounds(hosts)},
          .far = {hops, hops * host},
          .sent = std::min(hops * host, total) + local_rounds(hosts) * total};
}

void barrier(Builder& builder, const Shape& shape) {
  const Hosts hosts(shape);
  const Team local = hosts.local();
  Steps came = assemble(builder, local);
  if (hosts.leads()) came = disseminate(builder, hosts.across(), came);
  release(builder, local, came);
}

Cost barrier_cost(const Shape& shape) {
  const Hosts hosts(shape);
  return {.near = {2 * local_rounds(hosts), 0}, .far = {leader_rounds(hosts), 0}};
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

}  // namespace parley::schedule
