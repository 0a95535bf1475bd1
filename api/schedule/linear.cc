#include "api/schedule/linear.h"

#include <algorithm>
#include <vector>

#include "api/schedule/rank_blocks.h"
#include "api/schedule/rounds.h"

namespace parley::schedule {

void linear_all_gather(Builder& builder, const Team& team, const Blocks& at, const Slice& own) {
  for (std::uint32_t distance = 1; distance < team.size(); ++distance) {
    builder.send(team.next(distance), own);
    builder.receive(team.previous(distance), at[team.index(team.me() + team.size() - distance)]);
  }
  builder.copy(own, at[team.me()]);
}

void linear_reduce_scatter(Builder& builder, const Team& team, const Blocks& from, const Slice& result) {
  std::vector<Slice> operands(team.size());
  for (std::uint32_t distance = 1; distance < team.size(); ++distance) {
    builder.send(team.next(distance), from[team.index(team.me() + distance)]);
    const std::uint32_t source = team.index(team.me() + team.size() - distance);
    operands[source] = builder.scratch(result.count);
    builder.receive(team.rank(source), operands[source]);
  }
  operands[team.me()] = from[team.me()];
  builder.reduce(result, operands);
}

namespace {

void broadcast(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape, shape.root);
  if (team.me() != 0) {
    builder.receive(shape.root, builder.output());
    return;
  }
  for (std::uint32_t i = 1; i < team.size(); ++i) builder.send(team.rank(i), builder.input());
  builder.copy(builder.input(), builder.output());
}

Cost broadcast_cost(const Shape& shape) {
  const std::uint64_t messages = shape.size - 1;
  return {.near = {messages, messages * shape.count, 1}, .sent = messages * shape.count};
}

void reduce(Builder& builder, const Shape& shape) {
  if (shape.rank != shape.root) {
    builder.send(shape.root, builder.input());
    return;
  }
  std::vector<Slice> operands(shape.size, builder.input());
  for (std::uint32_t rank = 0; rank < shape.size; ++rank) {
    if (rank == shape.root) continue;
    operands[rank] = builder.scratch(shape.count);
    builder.receive(rank, operands[rank]);
  }
  builder.reduce(builder.output(), operands);
}

Cost reduce_cost(const Shape& shape) {
  const std::uint64_t messages = shape.size - 1;
  return {
      .near = {messages, messages * shape.count, 1}, .sent = shape.count, .reduced = messages * shape.count};
}

void all_reduce(Builder& builder, const Shape& shape) {
  std::vector<Slice> operands(shape.size, builder.input());
  const Team team = Team::all(shape);
  for (std::uint32_t distance = 1; distance < shape.size; ++distance) {
    builder.send(team.next(distance), builder.input());
    operands[team.previous(distance)] = builder.scratch(shape.count);
    builder.receive(team.previous(distance), operands[team.previous(distance)]);
  }
  builder.reduce(builder.output(), operands);
}

Cost all_reduce_cost(const Shape& shape) {
  const std::uint64_t messages = shape.size - 1;
  const std::uint64_t elements = messages * shape.count;
  return {.near = {messages, elements, 1}, .sent = elements, .reduced = elements};
}

void pairwise_all_reduce(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape);
  const Blocks out(builder.output(), shape.size);
  linear_reduce_scatter(builder, team, Blocks(builder.input(), shape.size), out[shape.rank]);
  linear_all_gather(builder, team, out, out[shape.rank]);
}

Cost pairwise_all_reduce_cost(const Shape& shape) {
  const std::uint64_t messages = shape.size - 1;
  const std::uint64_t elements = messages * divide_up(shape.count, shape.size);
  return {.near = {2 * messages, 2 * elements, 2}, .sent = elements + shape.count, .reduced = elements};
}

void scatter(Builder& builder, const Shape& shape) {
  if (shape.rank != shape.root) {
    builder.receive(shape.root, builder.output());
    return;
  }
  const Team team = Team::all(shape, shape.root);
  const Blocks blocks = rank_blocks(builder.input(), shape);
  for (std::uint32_t i = 1; i < team.size(); ++i) builder.send(team.rank(i), blocks[team.rank(i)]);
  builder.copy(blocks[shape.rank], builder.output());
}

void gather(Builder& builder, const Shape& shape) {
  if (shape.rank != shape.root) {
    builder.send(shape.root, builder.input());
    return;
  }
  const Blocks blocks = rank_blocks(builder.output(), shape);
  for (std::uint32_t rank = 0; rank < shape.size; ++rank)
    if (rank != shape.root) builder.receive(rank, blocks[rank]);
  builder.copy(builder.input(), blocks[shape.rank]);
}

Cost scatter_cost(const Shape& shape) {
  const std::uint64_t messages = shape.size - 1;
  return {.near = {messages, messages * largest_block(shape), 1},
          .sent = std::min(messages * largest_block(shape), total_count(shape))};
}

Cost gather_cost(const Shape& shape) {
  const std::uint64_t messages = shape.size - 1;
  return {.near = {messages, messages * largest_block(shape), 1}, .sent = largest_block(shape)};
}

void all_gather(Builder& builder, const Shape& shape) {
  linear_all_gather(builder, Team::all(shape), rank_blocks(builder.output(), shape), builder.input());
}

Cost all_gather_cost(const Shape& shape) {
  const std::uint64_t messages = shape.size - 1;
  const std::uint64_t elements = messages * largest_block(shape);
  return {.near = {messages, elements, 1}, .sent = elements};
}

void reduce_scatter(Builder& builder, const Shape& shape) {
  linear_reduce_scatter(builder, Team::all(shape), rank_blocks(builder.input(), shape), builder.output());
}

Cost reduce_scatter_cost(const Shape& shape) {
  const std::uint64_t messages = shape.size - 1;
  const std::uint64_t elements = messages * largest_block(shape);
  return {
      .near = {messages, elements, 1}, .sent = std::min(elements, total_count(shape)), .reduced = elements};
}

constexpr Entry entries[] = {
    {Operation::broadcast, Algorithm::linear, broadcast, broadcast_cost},
    {Operation::reduce, Algorithm::linear, reduce, reduce_cost, Order::rank, true},
    {Operation::all_reduce, Algorithm::linear, all_reduce, all_reduce_cost, Order::rank, true},
    {Operation::all_reduce, Algorithm::pairwise, pairwise_all_reduce, pairwise_all_reduce_cost, Order::rank,
     true},
    {Operation::scatter, Algorithm::linear, scatter, scatter_cost},
    {Operation::gather, Algorithm::linear, gather, gather_cost},
    {Operation::all_gather, Algorithm::linear, all_gather, all_gather_cost},
    {Operation::reduce_scatter, Algorithm::linear, reduce_scatter, reduce_scatter_cost, Order::rank, true},
};

}  // namespace

std::span<const Entry> linear_entries() {
  return entries;
}

}  // namespace parley::schedule
