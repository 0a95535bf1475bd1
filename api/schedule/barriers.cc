#include "api/schedule/barriers.h"

#include <bit>

#include "api/schedule/rounds.h"

namespace parley::schedule {
namespace {

std::uint32_t signal_after(Builder& builder, std::uint32_t peer, const Steps& before) {
  const std::uint32_t step = builder.signal(peer);
  for (const std::uint32_t earlier : before) builder.order(earlier, step);
  return step;
}

}  // namespace

Steps assemble(Builder& builder, const Team& team) {
  const std::uint32_t me = team.me();
  Steps came;
  for (std::uint32_t mask = 1; mask < team.size() && (me & mask) == 0; mask <<= 1)
    if (me + mask < team.size()) came.push_back(builder.await(team.rank(me + mask)));
  if (me != 0) signal_after(builder, team.rank(me - lowest_bit(me)), came);
  return came;
}

Steps release(Builder& builder, const Team& team, const Steps& before) {
  const std::uint32_t me = team.me();
  std::uint32_t mask = std::bit_ceil(team.size());
  Steps free = before;
  if (me != 0) {
    mask = lowest_bit(me);
    free = {builder.await(team.rank(me - mask))};
  }
  while ((mask >>= 1) > 0)
    if (me + mask < team.size()) signal_after(builder, team.rank(me + mask), free);
  return free;
}

Steps disseminate(Builder& builder, const Team& team, const Steps& before) {
  Steps heard = before;
  for (std::uint32_t distance = 1; distance < team.size(); distance *= 2) {
    // What is told in a round is what was heard in all rounds before.
    signal_after(builder, team.next(distance), heard);
    heard.push_back(builder.await(team.previous(distance)));
  }
  return heard;
}

namespace {

void dissemination(Builder& builder, const Shape& shape) {
  disseminate(builder, Team::all(shape), {});
}

Cost dissemination_cost(const Shape& shape) {
  return {.near = {doubling_rounds(shape.size), 0}};
}

void binomial(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape);
  release(builder, team, assemble(builder, team));
}

Cost binomial_cost(const Shape& shape) {
  return {.near = {2ULL * doubling_rounds(shape.size), 0}};
}

void linear(Builder& builder, const Shape& shape) {
  if (shape.rank != 0) {
    builder.signal(0);
    builder.await(0);
    return;
  }
  Steps came;
  for (std::uint32_t rank = 1; rank < shape.size; ++rank) came.push_back(builder.await(rank));
  for (std::uint32_t rank = 1; rank < shape.size; ++rank) signal_after(builder, rank, came);
}

Cost linear_cost(const Shape& shape) {
  return {.near = {2ULL * (shape.size - 1), 0, 2}};
}

constexpr Entry entries[] = {
    {Operation::barrier, Algorithm::dissemination, dissemination, dissemination_cost},
    {Operation::barrier, Algorithm::binomial, binomial, binomial_cost},
    {Operation::barrier, Algorithm::linear, linear, linear_cost},
};

}  // namespace

std::span<const Entry> barrier_entries() {
  return entries;
}

}  // namespace parley::schedule
