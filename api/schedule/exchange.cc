#include "api/schedule/exchange.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "api/schedule/rank_blocks.h"
#include "api/schedule/team.h"

namespace parley::schedule {
namespace {

void all_to_all(Builder& builder, const Shape& shape, bool in_rounds) {
  const Team team = Team::all(shape);
  const Blocks from = rank_blocks(builder.input(), shape);
  const Blocks to = received_blocks(builder.output(), shape);
  std::vector<std::pair<Slice, Slice>> aside;  // in place, a block waits until what it replaces was sent
  std::uint32_t sent = no_step, received = no_step;
  for (std::uint32_t distance = 1; distance < shape.size; ++distance) {
    const Slice place = to[team.previous(distance)];
    const Slice here = shape.in_place ? builder.scratch(place.count) : place;
    if (shape.in_place) aside.emplace_back(here, place);
    const std::uint32_t send = builder.send(team.next(distance), from[team.next(distance)]);
    const std::uint32_t receive = builder.receive(team.previous(distance), here);
    if (!in_rounds) continue;
    for (const std::uint32_t earlier : {sent, received}) {
      builder.order(earlier, send);
      builder.order(earlier, receive);
    }
    // Where one of the two is left out, the other alone is the round.
    sent = send;
    received = receive;
  }
  for (const auto& [here, place] : aside) builder.copy(here, place);
  builder.copy(from[shape.rank], to[shape.rank]);
}

void linear(Builder& builder, const Shape& shape) {
  all_to_all(builder, shape, false);
}
void pairwise(Builder& builder, const Shape& shape) {
  all_to_all(builder, shape, true);
}

Cost pairwise_cost(const Shape& shape) {
  const std::uint64_t messages = shape.size - 1;
  return {.near = {messages, messages * largest_block(shape)}, .sent = total_count(shape)};
}

Cost linear_cost(const Shape& shape) {
  Cost cost = pairwise_cost(shape);
  cost.near.hops = 1;
  return cost;
}

void reduce_scatter(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape);
  const Blocks from = rank_blocks(builder.input(), shape);
  const std::uint64_t count = builder.output().count;
  const std::array received{builder.scratch(count), builder.scratch(shape.size > 2 ? count : 0)};
  Slice sum = from[shape.rank];
  for (std::uint32_t distance = 1; distance < shape.size; ++distance) {
    const Slice& theirs = received[(distance - 1) % 2];
    builder.send(team.next(distance), from[team.next(distance)]);
    builder.receive(team.previous(distance), theirs);
    builder.reduce(builder.output(), {sum, theirs});
    sum = builder.output();
  }
}

Cost reduce_scatter_cost(const Shape& shape) {
  const std::uint64_t messages = shape.size - 1;
  const std::uint64_t elements = messages * largest_block(shape);
  // Folding is all that makes a round wait for another.
  return {
      .near = {messages, elements, 1}, .sent = std::min(elements, total_count(shape)), .reduced = elements};
}

constexpr Entry entries[] = {
    {Operation::all_to_all, Algorithm::linear, linear, linear_cost},
    {Operation::all_to_all, Algorithm::pairwise, pairwise, pairwise_cost},
    {Operation::reduce_scatter, Algorithm::pairwise, reduce_scatter, reduce_scatter_cost, Order::any},
};

}  // namespace

std::span<const Entry> exchange_entries() {
  return entries;
}

}  // namespace parley::schedule
