#include "api/schedule/binomial.h"

#include <array>
#include <bit>

#include "api/schedule/rounds.h"

namespace parley::schedule {

void binomial_broadcast(Builder& builder, const Team& team, const Slice& from, const Slice& to) {
  const std::uint32_t me = team.me();
  std::uint32_t mask = std::bit_ceil(team.size());
  if (me != 0) {
    mask = lowest_bit(me);
    builder.receive(team.rank(me - mask), to);
  }
  while ((mask >>= 1) > 0)
    if (me + mask < team.size()) builder.send(team.rank(me + mask), me == 0 ? from : to);
}

void binomial_reduce(Builder& builder, const Team& team, const Slice& from, const Slice& to) {
  const std::uint32_t me = team.me();
  Slice sum = from;
  std::array<Slice, 2> received{};
  Slice target = to;
  std::uint32_t child = 0;
  for (std::uint32_t mask = 1; mask < team.size() && (me & mask) == 0; mask <<= 1) {
    if (me + mask >= team.size()) break;
    if (child < 2) received[child] = builder.scratch(from.count);
    // Whoever is not the root has no other place for a sum.
    if (child == 0 && me != 0) target = builder.scratch(from.count);
    const Slice& theirs = received[child++ % 2];
    builder.receive(team.rank(me + mask), theirs);
    builder.reduce(target, {sum, theirs});
    sum = target;
  }
  if (me != 0) builder.send(team.rank(me - lowest_bit(me)), sum);
}

namespace {

void broadcast(Builder& builder, const Shape& shape) {
  binomial_broadcast(builder, Team::all(shape, shape.root), builder.input(), builder.output());
  if (shape.rank == shape.root) builder.copy(builder.input(), builder.output());
}

void reduce(Builder& builder, const Shape& shape) {
  binomial_reduce(builder, Team::all(shape, shape.root), builder.input(), builder.output());
}

void all_reduce(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape);
  binomial_reduce(builder, team, builder.input(), builder.output());
  binomial_broadcast(builder, team, builder.output(), builder.output());
}

Cost broadcast_cost(const Shape& shape) {
  const std::uint64_t rounds = doubling_rounds(shape.size);
  return {.near = {rounds, rounds * shape.count}, .sent = rounds * shape.count};
}

Cost reduce_cost(const Shape& shape) {
  const std::uint64_t rounds = doubling_rounds(shape.size);
  return {.near = {rounds, rounds * shape.count}, .sent = shape.count, .reduced = rounds * shape.count};
}

Cost all_reduce_cost(const Shape& shape) {
  const std::uint64_t rounds = doubling_rounds(shape.size);
  return {.near = {2 * rounds, 2 * rounds * shape.count},
          .sent = rounds * shape.count,
          .reduced = rounds * shape.count};
}

constexpr Entry entries[] = {
    {Operation::broadcast, Algorithm::binomial, broadcast, broadcast_cost},
    {Operation::reduce, Algorithm::binomial, reduce, reduce_cost, Order::rank_if_root_0},
    {Operation::all_reduce, Algorithm::binomial, all_reduce, all_reduce_cost},
};

}  // namespace

std::span<const Entry> binomial_entries() {
  return entries;
}

}  // namespace parley::schedule
