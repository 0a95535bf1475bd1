#include "api/schedule/flat.h"

#include <algorithm>
#include <vector>

#include "api/schedule/rank_blocks.h"
#include "api/schedule/segments.h"

namespace parley::schedule {
namespace {

constexpr auto entered = Progress::entered;

bool shares_memory(const Shape& shape) {
  return shape.hosts.empty() && shape.stage_count >= shape.size;
}

// For blocks of which each rank knows all counts, or that are even.
bool shares_memory_evenly(const Shape& shape) {
  return shares_memory(shape) && shape.counts.empty();
}

// What rank `owner` shows of `count` elements of its input, from `offset` on: small ones beside its mark.
Slice shown_by(const Builder& builder, const Shape& shape, std::uint32_t owner, std::uint64_t offset,
               std::uint64_t count) {
  if (count <= shape.line_count && !builder.has_loans()) return builder.line(owner, count);
  return builder.stage(owner, count).of(Loan::input, offset);
}

// The elements of `block` that lie within [offset, offset + count) of it.
Slice clipped(const Slice& block, std::uint64_t offset, std::uint64_t count) {
  const std::uint64_t begin = std::min(offset, block.count);
  return block.part(begin, std::min(count, block.count - begin));
}

// The ranks in the order in which each one visits them: so that not all are at the same one.
template <typename Use>
void for_each_other(const Shape& shape, Use use) {
  for (std::uint32_t distance = 1; distance < shape.size; ++distance)
    use((shape.rank + distance) % shape.size);
}

// Everyone shows all it has. `root`: who folds, or everyone.
void fold_all(Builder& builder, const Shape& shape, std::uint32_t root) {
  const bool folds = root == everyone || root == shape.rank;
  // In place, who folds writes over what others read.
  if (root != shape.rank && !(folds && shape.in_place)) builder.may_lend(Loan::input);
  for_each_segment(shape.count, shape.stage_count, [&](std::uint64_t offset, std::uint64_t count) {
    builder.begin_turn();
    const Slice own = builder.input().part(offset, count);
    if (root != shape.rank) {
      builder.make_room(root);
      builder.copy(own, shown_by(builder, shape, shape.rank, offset, count));
    }
    builder.publish(entered);
    if (!folds) return;
    builder.await_mark(everyone, entered);
    std::vector<Slice> operands;
    for (std::uint32_t rank = 0; rank < shape.size; ++rank)
      operands.push_back(rank == shape.rank ? own : shown_by(builder, shape, rank, offset, count));
    builder.reduce(builder.output().part(offset, count), operands);
  });
  builder.end_loans();
}

void all_reduce(Builder& builder, const Shape& shape) {
  fold_all(builder, shape, everyone);
}
void reduce(Builder& builder, const Shape& shape) {
  fold_all(builder, shape, shape.root);
}

// Where each rank shows something else to each other one: as much of every block as has room. Small blocks,
// all together, beside its mark.
struct Parts {
  Parts(const Builder& builder, const Shape& shape)
      : builder_(builder),
        on_line_(largest_block(shape) * shape.size <= shape.line_count && !builder.has_loans()),
        room_((on_line_ ? shape.line_count : shape.stage_count) / shape.size) {}
  [[nodiscard]] std::uint64_t room() const noexcept { return room_; }
  // A piece of the owner's input, from its element `from` on.
  [[nodiscard]] Slice shown(std::uint32_t owner, std::uint32_t to, std::uint64_t from,
                            std::uint64_t count) const noexcept {
    Slice slice = on_line_ ? builder_.line(owner, count) : builder_.stage(owner, count).of(Loan::input, from);
    slice.begin = to * room_;
    return slice;
  }

 private:
  const Builder& builder_;
  bool on_line_;
  std::uint64_t room_;
};

void reduce_scatter(Builder& builder, const Shape& shape) {
  const Parts parts(builder, shape);
  const Blocks blocks = rank_blocks(builder.input(), shape);
  if (!shape.in_place) builder.may_lend(Loan::input);
  for_each_segment(largest_block(shape), parts.room(), [&](std::uint64_t offset, std::uint64_t count) {
    builder.begin_turn();
    builder.make_room();
    for_each_other(shape, [&](std::uint32_t to) {
      const Slice block = clipped(blocks[to], offset, count);
      builder.copy(block, parts.shown(shape.rank, to, block.begin, block.count));
    });
    builder.publish(entered);
    builder.await_mark(everyone, entered);
    const Slice own = clipped(blocks[shape.rank], offset, count);
    std::vector<Slice> operands;
    for (std::uint32_t rank = 0; rank < shape.size; ++rank)
      operands.push_back(rank == shape.rank ? own : parts.shown(rank, shape.rank, own.begin, own.count));
    builder.reduce(clipped(builder.output(), offset, count), operands);
  });
  builder.end_loans();
}

void all_to_all(Builder& builder, const Shape& shape) {
  const Parts parts(builder, shape);
  const Blocks from = rank_blocks(builder.input(), shape);
  const Blocks to = received_blocks(builder.output(), shape);
  if (!shape.in_place) builder.may_lend(Loan::input);
  for_each_segment(shape.count, parts.room(), [&](std::uint64_t offset, std::uint64_t count) {
    builder.begin_turn();
    builder.make_room();
    for_each_other(shape, [&](std::uint32_t rank) {
      const Slice block = from[rank].part(offset, count);
      builder.copy(block, parts.shown(shape.rank, rank, block.begin, count));
    });
    builder.publish(entered);
    for_each_other(shape, [&](std::uint32_t rank) {
      builder.await_mark(rank, entered);
      builder.copy(parts.shown(rank, shape.rank, from[shape.rank].begin + offset, count),
                   to[rank].part(offset, count));
    });
  });
  builder.copy(from[shape.rank], to[shape.rank]);
  builder.end_loans();
}

void all_gather(Builder& builder, const Shape& shape) {
  const Blocks to = rank_blocks(builder.output(), shape);
  const auto largest = largest_block(shape);
  builder.may_lend(Loan::input);
  for_each_segment(largest, shape.stage_count, [&](std::uint64_t offset, std::uint64_t count) {
    builder.begin_turn();
    builder.make_room();
    const auto shown = [&](std::uint32_t rank) {
      return shown_by(builder, shape, rank, offset, count).part(0, clipped(to[rank], offset, count).count);
    };
    builder.copy(clipped(builder.input(), offset, count), shown(shape.rank));
    builder.publish(entered);
    for_each_other(shape, [&](std::uint32_t rank) {
      builder.await_mark(rank, entered);
      builder.copy(shown(rank), clipped(to[rank], offset, count));
    });
  });
  builder.copy(builder.input(), to[shape.rank]);
  builder.end_loans();
}

// Where one shows what another one takes, both copy at the same time if it goes in segments. `room`: elements
// for the largest.
std::uint64_t segment_of(const Shape& shape, std::uint64_t room) {
  return shape.segment_count == 0 ? room : std::min(room, shape.segment_count);
}

void broadcast(Builder& builder, const Shape& shape) {
  if (shape.rank == shape.root) builder.may_lend(Loan::input);
  for_each_segment(shape.count, segment_of(shape, shape.stage_count),
                   [&](std::uint64_t offset, std::uint64_t count) {
                     builder.begin_turn();
                     const Slice shown = shown_by(builder, shape, shape.root, offset, count);
                     if (shape.rank == shape.root) {
                       builder.make_room();
                       builder.copy(builder.input().part(offset, count), shown);
                       builder.publish(entered);
                       return;
                     }
                     builder.publish(entered);
                     builder.await_mark(shape.root, entered);
                     builder.copy(shown, builder.output().part(offset, count));
                   });
  if (shape.rank == shape.root) builder.copy(builder.input(), builder.output());
  builder.end_loans();
}

void gather(Builder& builder, const Shape& shape) {
  if (shape.rank != shape.root) builder.may_lend(Loan::input);
  const Blocks to = rank_blocks(builder.output(), shape);
  for_each_segment(
      shape.count, segment_of(shape, shape.stage_count), [&](std::uint64_t offset, std::uint64_t count) {
        builder.begin_turn();
        if (shape.rank != shape.root) {
          builder.make_room(shape.root);
          builder.copy(builder.input().part(offset, count),
                       shown_by(builder, shape, shape.rank, offset, count));
          builder.publish(entered);
          return;
        }
        builder.publish(entered);
        for_each_other(shape, [&](std::uint32_t rank) {
          builder.await_mark(rank, entered);
          builder.copy(shown_by(builder, shape, rank, offset, count), to[rank].part(offset, count));
        });
      });
  if (shape.rank == shape.root) builder.copy(builder.input(), to[shape.root]);
  builder.end_loans();
}

void scatter(Builder& builder, const Shape& shape) {
  const Parts parts(builder, shape);
  const Blocks from = rank_blocks(builder.input(), shape);
  if (shape.rank == shape.root) builder.may_lend(Loan::input);
  for_each_segment(
      shape.count, segment_of(shape, parts.room()), [&](std::uint64_t offset, std::uint64_t count) {
        builder.begin_turn();
        if (shape.rank == shape.root) {
          builder.make_room();
          for_each_other(shape, [&](std::uint32_t rank) {
            const Slice block = from[rank].part(offset, count);
            builder.copy(block, parts.shown(shape.root, rank, block.begin, count));
          });
          builder.publish(entered);
          return;
        }
        builder.publish(entered);
        builder.await_mark(shape.root, entered);
        // Beside the root there is no input to be cut into blocks.
        const std::uint64_t place = shape.rank * shape.count + offset;
        builder.copy(parts.shown(shape.root, shape.rank, place, count), builder.output().part(offset, count));
      });
  if (shape.rank == shape.root) builder.copy(from[shape.root], builder.output());
  builder.end_loans();
}

void barrier(Builder& builder, const Shape& /*shape*/) {
  builder.begin_turn();
  builder.make_room();  // nothing is shown; but who has called something else before is found out
  builder.publish(entered);
  builder.await_mark(everyone, entered);
}

// In segments of `room` elements, of which each is made room for and awaited.
Path shared(std::uint64_t count, std::uint64_t room, std::uint64_t copied) {
  return {.messages = 2 * segments_of(count, room), .elements = copied, .hops = segments_of(count, room)};
}

Cost all_reduce_cost(const Shape& shape) {
  return {.shared = shared(shape.count, shape.stage_count, shape.count),
          .reduced = (shape.size - 1) * shape.count};
}

Cost reduce_scatter_cost(const Shape& shape) {
  return {.shared = shared(largest_block(shape), shape.stage_count / shape.size, total_count(shape)),
          .reduced = (shape.size - 1) * largest_block(shape)};
}

Cost all_to_all_cost(const Shape& shape) {
  Cost cost{.shared =
                shared(shape.count, shape.stage_count / shape.size, (2 * shape.size - 1) * shape.count)};
  cost.shared.messages = shape.size * cost.shared.hops;
  return cost;
}

Cost all_gather_cost(const Shape& shape) {
  const std::uint64_t largest = largest_block(shape);
  Cost cost{.shared = shared(largest, shape.stage_count, largest + total_count(shape))};
  cost.shared.messages = shape.size * cost.shared.hops;
  return cost;
}

Cost broadcast_cost(const Shape& shape) {
  const std::uint64_t segment = segment_of(shape, shape.stage_count);
  return {.shared = shared(shape.count, segment, shape.count + std::min(segment, shape.count))};
}

Cost gather_cost(const Shape& shape) {
  const std::uint64_t segment = segment_of(shape, shape.stage_count);
  const std::uint64_t last = std::min(segment, shape.count);
  Cost cost{.shared = shared(shape.count, segment, shape.size * shape.count + last)};
  cost.shared.messages = shape.size * cost.shared.hops;
  return cost;
}

Cost scatter_cost(const Shape& shape) {
  const std::uint64_t segment = segment_of(shape, shape.stage_count / shape.size);
  const std::uint64_t last = std::min(segment, shape.count);
  return {.shared = shared(shape.count, segment, shape.size * shape.count + last)};
}

Cost barrier_cost(const Shape& /*shape*/) {
  return {.shared = {.messages = 2, .hops = 1}};
}

constexpr Algorithm flat = Algorithm::flat;
constexpr Entry entries[] = {
    {Operation::broadcast, flat, broadcast, broadcast_cost, Order::rank, false, shares_memory},
    {Operation::reduce, flat, reduce, all_reduce_cost, Order::rank, true, shares_memory},
    {Operation::all_reduce, flat, all_reduce, all_reduce_cost, Order::rank, true, shares_memory},
    {Operation::scatter, flat, scatter, scatter_cost, Order::rank, false, shares_memory_evenly},
    {Operation::gather, flat, gather, gather_cost, Order::rank, false, shares_memory_evenly},
    {Operation::all_gather, flat, all_gather, all_gather_cost, Order::rank, false, shares_memory},
    {Operation::reduce_scatter, flat, reduce_scatter, reduce_scatter_cost, Order::rank, true, shares_memory},
    {Operation::all_to_all, flat, all_to_all, all_to_all_cost, Order::rank, false, shares_memory_evenly},
    {Operation::barrier, flat, barrier, barrier_cost, Order::rank, false, shares_memory},
};

}  // namespace

std::span<const Entry> flat_entries() {
  return entries;
}

}  // namespace parley::schedule
