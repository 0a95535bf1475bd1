#include "api/schedule/halving.h"

#include <algorithm>
#include <vector>

#include "api/schedule/fold_extra.h"
#include "api/schedule/rank_blocks.h"
#include "api/schedule/rounds.h"

namespace parley::schedule {
namespace {

// Folds into `to` what partner and this rank have, the lower one's on the left.
void reduce_pair(Builder& builder, bool partner_is_lower, const Slice& theirs, const Slice& mine,
                 const Slice& to) {
  if (partner_is_lower)
    builder.reduce(to, {theirs, mine});
  else
    builder.reduce(to, {mine, theirs});
}

// One round of halving: who is it with, which part of the vector do they share, which half stays here.
struct Round {
  std::uint32_t partner = 0;  // number among those that take part
  std::uint32_t kept_first = 0, kept_last = 0;
  std::uint32_t given_first = 0, given_last = 0;
};

// Neighbours first: the lower one of two keeps the lower half.
std::vector<Round> neighbours_first(const FoldExtra& fold, std::uint32_t number) {
  std::vector<Round> rounds;
  std::uint32_t first = 0, last = fold.power();
  for (std::uint32_t mask = 1; mask < fold.power(); mask <<= 1) {
    const std::uint32_t middle = first + (last - first) / 2;
    const bool keeps_upper = (number & mask) != 0;
    rounds.push_back(keeps_upper ? Round{number ^ mask, middle, last, first, middle}
                                 : Round{number ^ mask, first, middle, middle, last});
    first = rounds.back().kept_first;
    last = rounds.back().kept_last;
  }
  return rounds;
}

// Halving within a team of which the extra ranks have left. `sum` is where this rank's part of the sum is
// before (the input, or `to`); afterwards the part that it kept lies in `to`.
void halve(Builder& builder, const Team& team, const FoldExtra& fold, const Slice& sum, const Slice& to,
           const std::vector<Round>& rounds) {
  const std::uint32_t number = fold.number(team.me());
  Blocks held(sum, fold.power());
  const Blocks target(to, fold.power());
  for (const Round& round : rounds) {
    const std::uint32_t peer = team.rank(fold.member(round.partner));
    const Slice kept = held.range(round.kept_first, round.kept_last);
    const Slice theirs = builder.scratch(kept.count);
    builder.send(peer, held.range(round.given_first, round.given_last));
    builder.receive(peer, theirs);
    reduce_pair(builder, round.partner < number, theirs, kept,
                target.range(round.kept_first, round.kept_last));
    held = target;
  }
}

// Takes the extra rank's input in. Where this rank's part of the sum is then.
Slice take_extra(Builder& builder, const Team& team, const FoldExtra& fold, const Slice& from,
                 const Slice& to) {
  if (!fold.is_paired(team.me())) return from;
  const std::uint32_t partner = FoldExtra::partner(team.me());
  const Slice theirs = builder.scratch(from.count);
  builder.receive(team.rank(partner), theirs);
  reduce_pair(builder, partner < team.me(), theirs, from, to);
  return to;
}

}  // namespace

void rabenseifner_all_reduce(Builder& builder, const Team& team, const Slice& from, const Slice& to) {
  const FoldExtra fold(team.size());
  const std::uint32_t partner = FoldExtra::partner(team.me());
  if (fold.leaves(team.me())) {
    builder.send(team.rank(partner), from);
    builder.receive(team.rank(partner), to);
    return;
  }
  const std::vector<Round> rounds = neighbours_first(fold, fold.number(team.me()));
  halve(builder, team, fold, take_extra(builder, team, fold, from, to), to, rounds);
  const Blocks out(to, fold.power());
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    const std::uint32_t peer = team.rank(fold.member(round->partner));
    builder.send(peer, out.range(round->kept_first, round->kept_last));
    builder.receive(peer, out.range(round->given_first, round->given_last));
  }
  if (fold.is_paired(team.me())) builder.send(team.rank(partner), to);
}

namespace {

// Elements that travel in all rounds of halving, one way. With extra ranks the promises have it once more:
// who has none to wait for is ahead, and its messages take the ports of others.
std::uint64_t halved(const FoldExtra& fold, std::uint64_t count) {
  std::uint64_t elements = 0;
  for (std::uint32_t blocks = fold.power() / 2; blocks > 0; blocks /= 2)
    elements += std::min(count, blocks * divide_up(count, fold.power()));
  return elements;
}

void all_reduce(Builder& builder, const Shape& shape) {
  rabenseifner_all_reduce(builder, Team::all(shape), builder.input(), builder.output());
}

Cost all_reduce_cost(const Shape& shape) {
  return rabenseifner_all_reduce_cost(shape.size, shape.count);
}

void reduce(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape);
  const FoldExtra fold(shape.size, shape.root);
  if (fold.leaves(shape.rank)) {
    builder.send(FoldExtra::partner(shape.rank), builder.input());
    return;
  }
  const std::uint32_t number = fold.number(shape.rank);
  const Slice to = shape.rank == shape.root ? builder.output() : builder.scratch(shape.count);
  const std::vector<Round> rounds = neighbours_first(fold, number);
  halve(builder, team, fold, take_extra(builder, team, fold, builder.input(), to), to, rounds);
  const Blocks out(to, fold.power());
  const std::uint32_t apart = number ^ fold.number(shape.root);
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    const std::uint32_t peer = fold.member(round->partner);
    // Of two partners the one that differs from the root gives what it has, and is done.
    if ((apart & (number ^ round->partner)) != 0) {
      builder.send(peer, out.range(round->kept_first, round->kept_last));
      return;
    }
    builder.receive(peer, out.range(round->given_first, round->given_last));
  }
}

Cost reduce_cost(const Shape& shape) {
  const FoldExtra fold(shape.size);
  const std::uint64_t extra = fold.extra() > 0 ? 1 : 0;
  const std::uint64_t elements = halved(fold, shape.count);
  return {.near = {2ULL * fold.rounds() + extra, (2 + extra) * elements + extra * shape.count},
          .sent = elements + shape.count,
          .reduced = elements + extra * shape.count};
}

// Those that take part own neighbouring blocks: their own and that of the rank that left.
void reduce_scatter(Builder& builder, const Shape& shape) {
  const FoldExtra fold(shape.size);
  const std::uint32_t partner = FoldExtra::partner(shape.rank);
  if (fold.leaves(shape.rank)) {
    builder.send(partner, builder.input());
    builder.receive(partner, builder.output());
    return;
  }
  const Team team = Team::all(shape);
  const Slice sums = builder.scratch(builder.input().count);
  Blocks held = rank_blocks(take_extra(builder, team, fold, builder.input(), sums), shape);
  const Blocks target = rank_blocks(sums, shape);
  const std::uint32_t number = fold.number(shape.rank);
  for (std::uint32_t mask = fold.power() / 2; mask > 0; mask >>= 1) {
    const std::uint32_t other = number ^ mask;
    const std::uint32_t mine = number & ~(mask - 1), yours = other & ~(mask - 1);
    const std::uint32_t first = fold.first(mine), last = fold.first(mine + mask);
    const Slice kept = held.range(first, last);
    const Slice theirs = builder.scratch(kept.count);
    builder.send(fold.member(other), held.range(fold.first(yours), fold.first(yours + mask)));
    builder.receive(fold.member(other), theirs);
    reduce_pair(builder, other < number, theirs, kept, target.range(first, last));
    held = target;
  }
  builder.copy(held[shape.rank], builder.output());
  if (fold.is_paired(shape.rank)) builder.send(partner, held[partner]);
}

Cost reduce_scatter_cost(const Shape& shape) {
  const FoldExtra fold(shape.size);
  const std::uint64_t total = total_count(shape), block = largest_block(shape);
  const std::uint64_t extra = fold.extra() > 0 ? 1 : 0;
  std::uint64_t elements = 0;
  for (std::uint32_t numbers = fold.power() / 2; numbers > 0; numbers /= 2)
    elements += std::min(total, (numbers + std::min(numbers, fold.extra())) * block);
  return {.near = {fold.rounds() + 2 * extra, elements + extra * (total + block)},
          .sent = std::max(elements + extra * block, extra * total),
          .reduced = elements + extra * total};
}

constexpr Entry entries[] = {
    {Operation::all_reduce, Algorithm::rabenseifner, all_reduce, all_reduce_cost},
    {Operation::reduce, Algorithm::rabenseifner, reduce, reduce_cost},
    {Operation::reduce_scatter, Algorithm::recursive_halving, reduce_scatter, reduce_scatter_cost,
     Order::any},
};

}  // namespace

Cost rabenseifner_all_reduce_cost(std::uint32_t size, std::uint64_t count) {
  const FoldExtra fold(size);
  const std::uint64_t extra = fold.extra() > 0 ? 1 : 0;
  const std::uint64_t elements = halved(fold, count);
  return {.near = {2ULL * (fold.rounds() + extra), (2 + extra) * elements + 2 * extra * count},
          .sent = 2 * elements + extra * count,
          .reduced = elements + extra * count};
}

std::span<const Entry> halving_entries() {
  return entries;
}

}  // namespace parley::schedule
