#include "api/schedule/recursive_doubling.h"

#include <algorithm>
#include <array>

#include "api/schedule/fold_extra.h"
#include "api/schedule/rank_blocks.h"

namespace parley::schedule {

void recursive_doubling_all_reduce(Builder& builder, const Team& team, const Slice& from, const Slice& to) {
  const FoldExtra fold(team.size());
  const std::uint32_t me = team.me();
  const std::uint32_t partner = FoldExtra::partner(me);
  if (fold.leaves(me)) {
    builder.send(team.rank(partner), from);
    builder.receive(team.rank(partner), to);
    return;
  }
  // Two, so that the next round's can come while one is folded.
  const bool needs_two = fold.rounds() > 1 || fold.is_paired(me);
  const std::array received{builder.scratch(from.count), builder.scratch(needs_two ? from.count : 0)};
  Slice sum = from;
  if (fold.is_paired(me)) {
    builder.receive(team.rank(partner), received[1]);
    builder.reduce(to, {received[1], from});
    sum = to;
  }
  for (std::uint32_t round = 0; round < fold.rounds(); ++round) {
    const std::uint32_t other = fold.number(me) ^ (1U << round);
    const Slice& theirs = received[round % 2];
    builder.send(team.rank(fold.member(other)), sum);
    builder.receive(team.rank(fold.member(other)), theirs);
    if (other < fold.number(me))
      builder.reduce(to, {theirs, sum});
    else
      builder.reduce(to, {sum, theirs});
    sum = to;
  }
  if (fold.is_paired(me)) builder.send(team.rank(partner), to);
}

namespace {

void all_reduce(Builder& builder, const Shape& shape) {
  recursive_doubling_all_reduce(builder, Team::all(shape), builder.input(), builder.output());
}

Cost all_reduce_cost(const Shape& shape) {
  const FoldExtra fold(shape.size);
  const std::uint64_t extra = fold.extra() > 0 ? 1 : 0;
  const std::uint64_t rounds = fold.rounds() + 2 * extra;
  return {.near = {rounds, rounds * shape.count},
          .sent = (fold.rounds() + extra) * shape.count,
          .reduced = (fold.rounds() + extra) * shape.count};
}

// Blocks of neighbours are neighbours in the output, so every message is one slice of it.
void all_gather(Builder& builder, const Shape& shape) {
  const FoldExtra fold(shape.size);
  const std::uint32_t me = shape.rank;
  const std::uint32_t partner = FoldExtra::partner(me);
  const Blocks at = rank_blocks(builder.output(), shape);
  if (fold.leaves(me)) {
    builder.send(partner, builder.input());
    builder.receive(partner, builder.output());
    return;
  }
  builder.copy(builder.input(), at[me]);
  if (fold.is_paired(me)) builder.receive(partner, at[partner]);
  for (std::uint32_t round = 0; round < fold.rounds(); ++round) {
    const std::uint32_t width = 1U << round;
    const std::uint32_t other = fold.number(me) ^ width;
    const auto held_by = [&](std::uint32_t number) {
      const std::uint32_t begin = number & ~(width - 1);
      return at.range(fold.first(begin), fold.first(begin + width));
    };
    builder.send(fold.member(other), held_by(fold.number(me)));
    builder.receive(fold.member(other), held_by(other));
  }
  if (fold.is_paired(me)) builder.send(partner, builder.output());
}

// Blocks of different counts: every round can be as long as the longest of its exchanges, and in a round of
// width w that is at most w blocks, or everything.
Cost all_gather_cost(const Shape& shape) {
  const FoldExtra fold(shape.size);
  const std::uint64_t total = total_count(shape);
  const std::uint64_t blocks = fold.extra() > 0 ? 2 : 1;  // that one number takes part for
  std::uint64_t exchanged = 0;
  for (std::uint32_t round = 0; round < fold.rounds(); ++round)
    exchanged += std::min(blocks * largest_block(shape) << round, total);
  if (fold.extra() == 0) return {.near = {fold.rounds(), exchanged}, .sent = exchanged};
  return {.near = {fold.rounds() + 2ULL, largest_block(shape) + exchanged + total},
          .sent = exchanged + total};
}

constexpr Entry entries[] = {
    {Operation::all_reduce, Algorithm::recursive_doubling, all_reduce, all_reduce_cost},
    {Operation::all_gather, Algorithm::recursive_doubling, all_gather, all_gather_cost},
};

}  // namespace

std::span<const Entry> recursive_doubling_entries() {
  return entries;
}

}  // namespace parley::schedule
