#include "api/schedule/subtrees.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "api/schedule/rank_blocks.h"
#include "api/schedule/ring.h"
#include "api/schedule/rounds.h"

namespace parley::schedule {

std::uint32_t subtree_end(std::uint32_t index, std::uint32_t size) noexcept {
  return index == 0 ? size : std::min(index + lowest_bit(index), size);
}

namespace {

// The blocks of the ranks from the root on, which are the tree's indices, one after another; those of one
// subtree.
Blocks subtree_blocks(Builder& builder, const Team& team, const Shape& shape) {
  std::vector<std::uint64_t> counts;
  std::uint64_t total = 0;
  for (std::uint32_t i = team.me(); i < subtree_end(team.me(), team.size()); ++i) {
    counts.push_back(block_count(shape, team.rank(i)));
    total += counts.back();
  }
  return {builder.scratch(total), counts};
}

// Blocks [first, last) of the tree as they lie in a buffer that is in the order of ranks: two slices where
// the ranks wrap around.
std::vector<Slice> in_rank_order(const Blocks& blocks, const Team& team, std::uint32_t first,
                                 std::uint32_t last) {
  const std::uint32_t begin = team.rank(first), end = begin + (last - first);
  if (end <= team.size()) return {blocks.range(begin, end)};
  return {blocks.range(begin, team.size()), blocks.range(0, end - team.size())};
}

void scatter_from_root(Builder& builder, const Team& team, const Shape& shape) {
  const Blocks blocks = rank_blocks(builder.input(), shape);
  for (std::uint32_t child = std::bit_ceil(team.size()); (child >>= 1) > 0;) {
    if (child >= team.size()) continue;
    const std::vector<Slice> parts = in_rank_order(blocks, team, child, subtree_end(child, team.size()));
    if (parts.size() == 1) {
      builder.send(team.rank(child), parts[0]);
      continue;
    }
    const Slice whole = builder.scratch(parts[0].count + parts[1].count);
    builder.copy(parts[0], whole.part(0, parts[0].count));
    builder.copy(parts[1], whole.part(parts[0].count, parts[1].count));
    builder.send(team.rank(child), whole);
  }
  builder.copy(blocks[shape.rank], builder.output());
}

void scatter(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape, shape.root);
  const std::uint32_t me = team.me();
  if (me == 0) return scatter_from_root(builder, team, shape);
  const std::uint32_t parent = team.rank(me - lowest_bit(me));
  if (subtree_end(me, team.size()) == me + 1) {
    builder.receive(parent, builder.output());
    return;
  }
  const Blocks held = subtree_blocks(builder, team, shape);
  builder.receive(parent, held.range(0, held.size()));
  for (std::uint32_t mask = lowest_bit(me); (mask >>= 1) > 0;)
    if (me + mask < team.size())
      builder.send(team.rank(me + mask), held.range(mask, subtree_end(me + mask, team.size()) - me));
  builder.copy(held[0], builder.output());
}

void gather_at_root(Builder& builder, const Team& team, const Shape& shape) {
  const Blocks blocks = rank_blocks(builder.output(), shape);
  for (std::uint32_t child = 1; child < team.size(); child <<= 1) {
    const std::vector<Slice> parts = in_rank_order(blocks, team, child, subtree_end(child, team.size()));
    if (parts.size() == 1) {
      builder.receive(team.rank(child), parts[0]);
      continue;
    }
    const Slice whole = builder.scratch(parts[0].count + parts[1].count);
    builder.receive(team.rank(child), whole);
    builder.copy(whole.part(0, parts[0].count), parts[0]);
    builder.copy(whole.part(parts[0].count, parts[1].count), parts[1]);
  }
  builder.copy(builder.input(), blocks[shape.rank]);
}

void gather(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape, shape.root);
  const std::uint32_t me = team.me();
  if (me == 0) return gather_at_root(builder, team, shape);
  const std::uint32_t parent = team.rank(me - lowest_bit(me));
  if (subtree_end(me, team.size()) == me + 1) {
    builder.send(parent, builder.input());
    return;
  }
  const Blocks held = subtree_blocks(builder, team, shape);
  builder.copy(builder.input(), held[0]);
  for (std::uint32_t mask = 1; mask < lowest_bit(me) && me + mask < team.size(); mask <<= 1)
    builder.receive(team.rank(me + mask), held.range(mask, subtree_end(me + mask, team.size()) - me));
  builder.send(parent, held.range(0, held.size()));
}

Cost block_tree_cost(const Shape& shape) {
  const std::uint64_t blocks = (shape.size - 1) * largest_block(shape);
  return {.near = {doubling_rounds(shape.size), blocks}, .sent = std::min(blocks, total_count(shape))};
}

void scatter_ring(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape, shape.root);
  const std::uint32_t me = team.me();
  const Blocks out(builder.output(), team.size());
  const Blocks held = me == 0 ? Blocks(builder.input(), team.size()) : out;
  if (me != 0) builder.receive(team.rank(me - lowest_bit(me)), out.range(me, subtree_end(me, team.size())));
  for (std::uint32_t mask = me == 0 ? std::bit_ceil(team.size()) : lowest_bit(me); (mask >>= 1) > 0;)
    if (me + mask < team.size())
      builder.send(team.rank(me + mask), held.range(me + mask, subtree_end(me + mask, team.size())));
  if (me == 0) builder.copy(builder.input(), builder.output());
  ring_all_gather(builder, team, out, held[me]);
}

Cost scatter_ring_cost(const Shape& shape) {
  const std::uint64_t others = shape.size - 1;
  const std::uint64_t elements = others * divide_up(shape.count, shape.size);
  return {.near = {doubling_rounds(shape.size) + others, 2 * elements}, .sent = 2 * shape.count};
}

constexpr Entry entries[] = {
    {Operation::scatter, Algorithm::binomial, scatter, block_tree_cost},
    {Operation::gather, Algorithm::binomial, gather, block_tree_cost},
    {Operation::broadcast, Algorithm::scatter_ring, scatter_ring, scatter_ring_cost},
};

}  // namespace

std::span<const Entry> subtree_entries() {
  return entries;
}

}  // namespace parley::schedule
