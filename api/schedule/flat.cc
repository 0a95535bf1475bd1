#include "api/schedule/flat.h"

#include <algorithm>
#include <vector>

#include "api/schedule/flat_parts.h"
#include "api/schedule/rank_blocks.h"
#include "api/schedule/segments.h"
#include "api/schedule/whole.h"

namespace parley::schedule {
namespace {

constexpr auto entered = Progress::entered;

// For blocks of which each rank knows all counts, or that are even.
bool fits_evenly(const Shape& shape) {
  return fits_host(shape) && shape.counts.empty();
}
// In place, each writes over what others want of it.
bool fits_exchange(const Shape& shape) {
  return fits_evenly(shape) && !(shape.everyone_lends && shape.in_place);
}
bool fits_stages_evenly(const Shape& shape) {
  return fits_evenly(shape) && !shape.everyone_lends;
}

bool takes_whole(const Builder& builder, const Shape& shape) {
  return shape.everyone_lends && builder.has_loans();
}

// All ranks' inputs, of each the part that is given by its index in the team.
template <typename From>
void take_all_whole(Builder& builder, const Team& team, const From& from, const Blocks& to) {
  std::vector<Taken> wanted;
  const auto want = [&](std::uint32_t index) {
    wanted.push_back({team.rank(index), from(index), to[index]});
  };
  want(team.me());
  for_each_other(team, want);
  take_whole(builder, team.rank(team.me()), wanted);
}

// Where one shows what another one takes, both work at the same time if it goes in segments. `room`: elements
// for the largest.
std::uint64_t segment_of(const Shape& shape, std::uint64_t room) {
  return shape.segment_count == 0 ? room : std::min(room, shape.segment_count);
}

// Everyone shows all it has. `root`: who folds, or everyone.
void fold_all(Builder& builder, const Shape& shape, std::uint32_t root, std::uint64_t segment) {
  // In place, who folds writes over what others read.
  if (root != shape.rank && !(root == everyone && shape.in_place)) builder.may_lend(Loan::input);
  flat_reduce(builder, shape, Team::all(shape), root, builder.input(), builder.output(), segment);
  builder.end_loans();
}

void all_reduce(Builder& builder, const Shape& shape) {
  fold_all(builder, shape, everyone, shape.stage_count);
}
void reduce(Builder& builder, const Shape& shape) {
  fold_all(builder, shape, shape.root, segment_of(shape, shape.stage_count));
}

void reduce_scatter(Builder& builder, const Shape& shape) {
  if (!shape.in_place) builder.may_lend(Loan::input);
  flat_reduce_scatter(builder, shape, Team::all(shape), rank_blocks(builder.input(), shape),
                      builder.output());
  builder.end_loans();
}

// Each to each, in segments.
void show_parts(Builder& builder, const Shape& shape, const Team& team, const Parts& parts,
                const Blocks& from, const Blocks& to) {
  for_each_segment(shape.count, parts.part_of(shape.count), [&](std::uint64_t offset, std::uint64_t count) {
    builder.begin_turn(parts.stage_count());
    builder.make_room();
    for_each_other(team, [&](std::uint32_t rank) {
      const Slice piece = from[rank].part(offset, count);
      builder.copy(piece, parts.shown(shape.rank, rank, piece), rank);
    });
    builder.publish(entered);
    const Slice for_us = from[shape.rank].part(offset, count);  // as each of the others has it
    builder.copy(for_us, to[shape.rank].part(offset, count));   // while the others' marks are under way
    for_each_other(team, [&](std::uint32_t rank) {
      builder.await_mark(rank, entered);
      builder.copy(parts.shown(rank, shape.rank, for_us), to[rank].part(offset, count), rank);
    });
  });
}

void all_to_all(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape);
  const Parts parts(builder, shape, team, shape.count);
  const Blocks from = rank_blocks(builder.input(), shape);
  const Blocks to = received_blocks(builder.output(), shape);
  if (!shape.in_place) builder.may_lend(Loan::input);
  if (takes_whole(builder, shape)) {
    const auto for_us = [&](std::uint32_t) { return from[shape.rank]; };  // as each of the others has it
    take_all_whole(builder, team, for_us, to);
  } else {
    show_parts(builder, shape, team, parts, from, to);
  }
  builder.end_loans();
}

void all_gather(Builder& builder, const Shape& shape) {
  builder.may_lend(Loan::input);
  const Team team = Team::all(shape);
  const std::vector<Slice> from = inputs_of(team, shape);
  const Blocks to = rank_blocks(builder.output(), shape);
  if (takes_whole(builder, shape)) {
    const auto input_of = [&](std::uint32_t index) { return from[index]; };
    take_all_whole(builder, team, input_of, to);
  } else {
    flat_all_gather(builder, shape, team, from, to);
  }
  builder.end_loans();
}

void broadcast(Builder& builder, const Shape& shape) {
  if (shape.rank == shape.root) builder.may_lend(Loan::input);
  const std::uint32_t shown =
      flat_broadcast(builder, shape, Team::all(shape, shape.root), {Space::input, 0, shape.count},
                     builder.output(), segment_of(shape, shape.stage_count));
  if (shape.rank == shape.root) builder.order(shown, builder.copy(builder.input(), builder.output()));
  builder.end_loans();
}

void gather(Builder& builder, const Shape& shape) {
  if (shape.rank != shape.root) builder.may_lend(Loan::input);
  const Team team = Team::all(shape, shape.root);
  std::vector<Slice> to(shape.size);
  if (shape.rank == shape.root) {
    const Blocks blocks = rank_blocks(builder.output(), shape);
    for (std::uint32_t index = 0; index < shape.size; ++index) to[index] = blocks[team.rank(index)];
  }
  flat_gather(builder, shape, team, inputs_of(team, shape), to, segment_of(shape, shape.stage_count));
  builder.end_loans();
}

void scatter(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape);
  const std::uint64_t segment = segment_of(shape, shape.count);
  const Parts parts(builder, shape, team, segment);
  if (shape.rank == shape.root) builder.may_lend(Loan::input);
  // As the root has it: beside it there is no input.
  const auto block = [&](std::uint32_t rank) { return Slice{Space::input, rank * shape.count, shape.count}; };
  if (takes_whole(builder, shape)) {
    const Taken wanted{shape.root, block(shape.rank), builder.output()};
    take_whole(builder, shape.rank, {&wanted, 1});
    return builder.end_loans();
  }
  // What the root gives itself comes last, for others wait for what it shows: 64 KiB of two ranks near took
  // 2.6 us with that copy before the second segment, and take 1.9.
  std::uint32_t shown = no_step;
  for_each_segment(shape.count, std::min(parts.part_of(shape.count), segment),
                   [&](std::uint64_t offset, std::uint64_t count) {
                     builder.begin_turn(parts.stage_count());
                     if (shape.rank == shape.root) {
                       builder.make_room();
                       for_each_other(team, [&](std::uint32_t rank) {
                         const Slice piece = block(rank).part(offset, count);
                         builder.copy(piece, parts.shown(shape.root, rank, piece), rank);
                       });
                       shown = builder.publish(entered);
                       return;
                     }
                     builder.publish(entered);
                     builder.await_mark(shape.root, entered);
                     builder.copy(parts.shown(shape.root, shape.rank, block(shape.rank).part(offset, count)),
                                  builder.output().part(offset, count));
                   });
  if (shape.rank == shape.root) builder.order(shown, builder.copy(block(shape.rank), builder.output()));
  builder.end_loans();
}

void barrier(Builder& builder, const Shape& /*shape*/) {
  builder.begin_turn(0);
  builder.look_back();
  builder.publish(entered);
  builder.await_mark(everyone, entered);
}

Cost fold_all_cost(const Shape& shape, std::uint64_t segment) {
  return {.shared = shared_path(shape.count, segment, shape.count),
          .reduced = (shape.size - 1) * shape.count};
}
Cost all_reduce_cost(const Shape& shape) {
  return fold_all_cost(shape, shape.stage_count);
}
Cost reduce_cost(const Shape& shape) {
  return fold_all_cost(shape, segment_of(shape, shape.stage_count));
}

Cost reduce_scatter_cost(const Shape& shape) {
  const std::uint64_t largest = largest_block(shape);
  return {.shared = flat_reduce_scatter_path(shape, shape.size, largest, total_count(shape)),
          .reduced = (shape.size - 1) * largest};
}

Cost all_to_all_cost(const Shape& shape) {
  Cost cost{.shared = shared_path(shape.count, room_for_part(shape, shape.size),
                                  (2 * shape.size - 1) * shape.count)};
  cost.shared.messages = shape.size * cost.shared.hops;
  return cost;
}

Cost all_gather_cost(const Shape& shape) {
  return {.shared = flat_all_gather_path(shape, shape.size, largest_block(shape), total_count(shape))};
}

Cost broadcast_cost(const Shape& shape) {
  return {.shared = flat_broadcast_path(shape.count, segment_of(shape, shape.stage_count))};
}

Cost gather_cost(const Shape& shape) {
  return {.shared = flat_gather_path(shape.size, shape.count, shape.size * shape.count,
                                     segment_of(shape, shape.stage_count))};
}

Cost scatter_cost(const Shape& shape) {
  const std::uint64_t segment = segment_of(shape, room_for_part(shape, shape.size));
  const std::uint64_t last = std::min(segment, shape.count);
  return {.shared = shared_path(shape.count, segment, shape.size * shape.count + last)};
}

Cost barrier_cost(const Shape& /*shape*/) {
  return {.shared = {.messages = 2, .hops = 1}};
}

constexpr Algorithm flat = Algorithm::flat;
constexpr Entry entries[] = {
    {Operation::broadcast, flat, broadcast, broadcast_cost, Order::rank, false, fits_stages},
    {Operation::reduce, flat, reduce, reduce_cost, Order::rank, true, fits_stages},
    {Operation::all_reduce, flat, all_reduce, all_reduce_cost, Order::rank, true, fits_stages},
    {Operation::scatter, flat, scatter, scatter_cost, Order::rank, false, fits_evenly},
    {Operation::gather, flat, gather, gather_cost, Order::rank, false, fits_stages_evenly},
    {Operation::all_gather, flat, all_gather, all_gather_cost, Order::rank, false, fits_host},
    {Operation::reduce_scatter, flat, reduce_scatter, reduce_scatter_cost, Order::rank, true, fits_stages},
    {Operation::all_to_all, flat, all_to_all, all_to_all_cost, Order::rank, false, fits_exchange},
    {Operation::barrier, flat, barrier, barrier_cost, Order::rank, false, fits_stages},
};

}  // namespace

std::span<const Entry> flat_entries() {
  return entries;
}

}  // namespace parley::schedule
