#include "api/schedule/slices.h"

#include <algorithm>
#include <vector>

#include "api/schedule/blocks.h"
#include "api/schedule/flat_parts.h"
#include "api/schedule/segments.h"

namespace parley::schedule {
namespace {

// `root`: who gets the result, or everyone.
void fold_slices(Builder& builder, const Shape& shape, std::uint32_t root) {
  const bool gets_it = root == everyone || root == shape.rank;
  const std::uint32_t me = shape.rank;
  builder.may_lend(Loan::input);
  if (root == everyone) builder.may_lend(Loan::output);
  const bool is_lent = shape.everyone_lends;
  const std::uint64_t segment = is_lent ? shape.count : shape.stage_count;
  for_each_segment(shape.count, segment, [&](std::uint64_t offset, std::uint64_t count) {
    builder.begin_turn(is_lent ? 0 : count);
    const Slice own = builder.input().part(offset, count);
    const Blocks from(own, shape.size);
    const auto shown = [&](std::uint32_t rank) {
      return Blocks(builder.stage(rank, count).of(Loan::input, offset), shape.size);
    };
    // Each rank's own slice of its stage has no use for its input.
    const auto folded = [&](std::uint32_t rank) {
      const Slice slice = shown(rank)[rank];
      return root == everyone ? slice.of(Loan::output, slice.lent_begin) : slice.of(Loan::none, 0);
    };
    if (!is_lent) {
      // All but our own slice, which nobody else wants.
      builder.make_room();
      builder.copy(from.range(0, me), shown(me).range(0, me));
      builder.copy(from.range(me + 1, shape.size), shown(me).range(me + 1, shape.size));
      builder.publish(Progress::entered);
      builder.await_mark(everyone, Progress::entered);
    }
    std::vector<Slice> operands;
    for (std::uint32_t rank = 0; rank < shape.size; ++rank)
      operands.push_back(rank == me ? from[me] : shown(rank)[me]);
    if (!gets_it) {
      builder.reduce(folded(me), operands);
      builder.publish(Progress::folded);
      return;
    }
    // Folded where they are wanted here, and shown by a copy, for a second look at what others read would
    // take its lines back from there. 1 MiB of two ranks between far cores took 104 us, now 61.
    const Blocks to(builder.output().part(offset, count), shape.size);
    const Slice sums = to[me];
    builder.reduce(root == everyone ? sums.of(Loan::output, sums.begin) : sums, operands);
    if (root == everyone) builder.copy(sums, folded(me));
    builder.publish(Progress::folded);
    for (std::uint32_t distance = 1; distance < shape.size; ++distance) {
      const std::uint32_t rank = (me + distance) % shape.size;  // not all at the same one
      builder.await_mark(rank, Progress::folded);
      builder.copy(folded(rank), to[rank]);
    }
  });
  builder.end_loans();
}

void all_reduce(Builder& builder, const Shape& shape) {
  fold_slices(builder, shape, everyone);
}
void reduce(Builder& builder, const Shape& shape) {
  fold_slices(builder, shape, shape.root);
}

Cost reduce_cost(const Shape& shape) {
  const std::uint64_t turns = segments_of(shape.count, shape.stage_count);
  // Of each turn the largest slice may have one element more.
  const std::uint64_t slice = shape.count / shape.size + turns;
  return {.shared = {.messages = (shape.size + 1) * turns, .elements = 2 * shape.count, .hops = 2 * turns},
          .reduced = (shape.size - 1) * slice};
}

Cost all_reduce_cost(const Shape& shape) {
  Cost cost = reduce_cost(shape);
  // All is shown, either as input or as sums, and our own sums are not taken back: a slice of each turn,
  // which may have one element less than others.
  const std::uint64_t own = shape.count / shape.size;
  cost.shared.elements -= own - std::min(own, segments_of(shape.count, shape.stage_count));
  return cost;
}

constexpr Entry entries[] = {
    {Operation::all_reduce, Algorithm::slices, all_reduce, all_reduce_cost, Order::rank, true, fits_host},
    // Who is not its root has no output to lend.
    {Operation::reduce, Algorithm::slices, reduce, reduce_cost, Order::rank, true, fits_stages},
};

}  // namespace

std::span<const Entry> slices_entries() {
  return entries;
}

}  // namespace parley::schedule
