#include "api/schedule/bruck.h"

#include <algorithm>
#include <vector>

#include "api/schedule/rank_blocks.h"
#include "api/schedule/rounds.h"
#include "api/schedule/team.h"

namespace parley::schedule {
namespace {

// Gathers all blocks, this rank's first and then those of the ranks after it. The first is there.
void gather_from_me_on(Builder& builder, const Team& team, const Blocks& held) {
  for (std::uint32_t distance = 1; distance < team.size(); distance *= 2) {
    const std::uint32_t blocks = std::min(distance, team.size() - distance);
    builder.send(team.previous(distance), held.range(0, blocks));
    builder.receive(team.next(distance), held.range(distance, distance + blocks));
  }
}

void all_gather(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape, shape.rank);
  std::vector<std::uint64_t> counts;
  for (std::uint32_t i = 0; i < team.size(); ++i) counts.push_back(block_count(shape, team.rank(i)));
  // Rank 0's order is that of the result.
  const bool is_in_place = shape.rank == 0;
  const Slice output = builder.output();
  const Blocks held(is_in_place ? output : builder.scratch(output.count), counts);
  builder.copy(builder.input(), held[0]);
  gather_from_me_on(builder, team, held);
  if (is_in_place) return;
  const Slice upper = held.range(0, team.size() - shape.rank);
  const Slice lower = held.range(team.size() - shape.rank, team.size());
  builder.copy(upper, output.part(lower.count, upper.count));
  builder.copy(lower, output.part(0, lower.count));
}

Cost all_gather_cost(const Shape& shape) {
  const std::uint64_t elements = (shape.size - 1) * largest_block(shape);
  return {.near = {doubling_rounds(shape.size), elements}, .sent = elements};
}

void all_reduce(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape, shape.rank);
  const Blocks held(builder.scratch(shape.count * shape.size), shape.size);
  builder.copy(builder.input(), held[0]);
  gather_from_me_on(builder, team, held);
  std::vector<Slice> operands(shape.size);
  for (std::uint32_t i = 0; i < shape.size; ++i) operands[team.rank(i)] = held[i];
  builder.reduce(builder.output(), operands);
}

Cost all_reduce_cost(const Shape& shape) {
  const std::uint64_t elements = (shape.size - 1) * shape.count;
  return {.near = {doubling_rounds(shape.size), elements}, .sent = elements, .reduced = elements};
}

// Calls use(first, count) for each run of block numbers that have bit `distance` set.
template <typename Use>
void for_each_run(std::uint32_t distance, std::uint32_t size, Use use) {
  for (std::uint32_t first = distance; first < size; first += 2 * distance)
    use(first, std::min(distance, size - first));
}

std::uint64_t blocks_of_round(std::uint32_t distance, std::uint32_t size) {
  std::uint64_t blocks = 0;
  for_each_run(distance, size, [&](std::uint32_t, std::uint32_t count) { blocks += count; });
  return blocks;
}

// Block i is for the rank i further. In round k all blocks whose number has bit k take a hop of 2^k.
void all_to_all(Builder& builder, const Shape& shape) {
  const std::uint32_t size = shape.size;
  const Team team = Team::all(shape);
  const Blocks input(builder.input(), size), output(builder.output(), size);
  const Blocks held(builder.scratch(shape.count * size), size);
  builder.copy(input.range(shape.rank, size), held.range(0, size - shape.rank));
  builder.copy(input.range(0, shape.rank), held.range(size - shape.rank, size));
  for (std::uint32_t distance = 1; distance < size; distance *= 2) {
    const std::uint64_t count = blocks_of_round(distance, size) * shape.count;
    const Slice sent = builder.scratch(count), received = builder.scratch(count);
    std::uint64_t offset = 0;
    for_each_run(distance, size, [&](std::uint32_t first, std::uint32_t blocks) {
      builder.copy(held.range(first, first + blocks), sent.part(offset, blocks * shape.count));
      offset += blocks * shape.count;
    });
    builder.send(team.next(distance), sent);
    builder.receive(team.previous(distance), received);
    offset = 0;
    for_each_run(distance, size, [&](std::uint32_t first, std::uint32_t blocks) {
      builder.copy(received.part(offset, blocks * shape.count), held.range(first, first + blocks));
      offset += blocks * shape.count;
    });
  }
  for (std::uint32_t i = 0; i < size; ++i) builder.copy(held[i], output[team.index(shape.rank + size - i)]);
}

Cost all_to_all_cost(const Shape& shape) {
  std::uint64_t elements = 0;
  for (std::uint32_t distance = 1; distance < shape.size; distance *= 2)
    elements += blocks_of_round(distance, shape.size) * shape.count;
  return {.near = {doubling_rounds(shape.size), elements}, .sent = elements};
}

bool is_even(const Shape& shape) {
  return shape.counts.empty();
}

constexpr Entry entries[] = {
    {Operation::all_gather, Algorithm::bruck, all_gather, all_gather_cost},
    {Operation::all_reduce, Algorithm::bruck, all_reduce, all_reduce_cost, Order::rank, true},
    {Operation::all_to_all, Algorithm::bruck, all_to_all, all_to_all_cost, Order::rank, false, is_even},
};

}  // namespace

std::span<const Entry> bruck_entries() {
  return entries;
}

}  // namespace parley::schedule
