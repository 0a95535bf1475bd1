#include "api/schedule/ring.h"

#include <algorithm>
#include <array>

#include "api/schedule/rank_blocks.h"
#include "api/schedule/segments.h"

namespace parley::schedule {

void ring_reduce_scatter(Builder& builder, const Team& team, const Blocks& from,
                         const std::optional<Blocks>& partial, const Slice& result, std::uint64_t segment) {
  const std::uint32_t size = team.size();
  const std::uint32_t me = team.me();
  // Two, so that one can be received into while the other is folded or sent.
  const std::array received{builder.scratch(from.largest()), builder.scratch(size > 2 ? from.largest() : 0)};
  Slice sent = from[(me + size - 1) % size];
  for (std::uint32_t step = 0; step + 1 < size; ++step) {
    const Slice mine = from[(me + 2 * size - 2 - step) % size];
    const Slice buffer = received[step % 2].part(0, mine.count);
    const bool is_last = step + 2 == size;
    const Slice sum = is_last ? result : partial ? (*partial)[(me + 2 * size - 2 - step) % size] : buffer;
    for_each_segment(sent.count, segment, [&](std::uint64_t offset, std::uint64_t count) {
      builder.send(team.next(), sent.part(offset, count));
    });
    for_each_segment(mine.count, segment, [&](std::uint64_t offset, std::uint64_t count) {
      const Slice piece = buffer.part(offset, count);
      builder.receive(team.previous(), piece);
      builder.reduce(sum.part(offset, count), {piece, mine.part(offset, count)});
    });
    sent = sum;
  }
}

void ring_all_gather(Builder& builder, const Team& team, const Blocks& at, const Slice& own,
                     std::uint64_t segment) {
  const std::uint32_t size = team.size();
  Slice sent = own;
  for (std::uint32_t step = 0; step + 1 < size; ++step) {
    const Slice block = at[(team.me() + size - 1 - step) % size];
    for_each_segment(sent.count, segment, [&](std::uint64_t offset, std::uint64_t count) {
      builder.send(team.next(), sent.part(offset, count));
    });
    for_each_segment(block.count, segment, [&](std::uint64_t offset, std::uint64_t count) {
      builder.receive(team.previous(), block.part(offset, count));
    });
    sent = block;
  }
  builder.copy(own, at[team.me()]);
}

namespace {

std::uint64_t segment_of_ring(const Shape&) {
  return 0;
}
std::uint64_t segment_of_segmented_ring(const Shape& shape) {
  return shape.segment_count;
}
using SegmentOf = std::uint64_t (*)(const Shape&);

template <SegmentOf segment>
void all_reduce(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape);
  const Blocks out(builder.output(), shape.size);
  ring_reduce_scatter(builder, team, Blocks(builder.input(), shape.size), out, out[team.me()],
                      segment(shape));
  ring_all_gather(builder, team, out, out[team.me()], segment(shape));
}

template <SegmentOf segment>
void reduce_scatter(Builder& builder, const Shape& shape) {
  ring_reduce_scatter(builder, Team::all(shape), rank_blocks(builder.input(), shape), std::nullopt,
                      builder.output(), segment(shape));
}

template <SegmentOf segment>
void all_gather(Builder& builder, const Shape& shape) {
  ring_all_gather(builder, Team::all(shape), rank_blocks(builder.output(), shape), builder.input(),
                  segment(shape));
}

// Once around for blocks of which the largest has `largest` of `total` elements.
Cost around(const Shape& shape, std::uint64_t largest, std::uint64_t total, std::uint64_t segment) {
  const std::uint64_t hops = shape.size - 1;
  return {.near = {hops * segments_of(largest, segment), hops * largest, hops},
          .sent = std::min(hops * largest, total),
          .reduced = std::min(hops * largest, total)};
}

template <SegmentOf segment>
Cost gather_cost(const Shape& shape) {
  Cost cost = around(shape, largest_block(shape), total_count(shape), segment(shape));
  cost.reduced = 0;
  return cost;
}

template <SegmentOf segment>
Cost scatter_cost(const Shape& shape) {
  return around(shape, largest_block(shape), total_count(shape), segment(shape));
}

template <SegmentOf segment>
Cost all_reduce_cost(const Shape& shape) {
  const std::uint64_t largest = (shape.count + shape.size - 1) / shape.size;
  Cost cost = around(shape, largest, shape.count, segment(shape));
  cost.near = {2 * cost.near.messages, 2 * cost.near.elements, 2 * cost.near.hops};
  cost.sent *= 2;
  return cost;
}

constexpr SegmentOf whole = segment_of_ring;
constexpr SegmentOf cut = segment_of_segmented_ring;
constexpr Entry entries[] = {
    {Operation::all_reduce, Algorithm::ring, all_reduce<whole>, all_reduce_cost<whole>, Order::any},
    {Operation::reduce_scatter, Algorithm::ring, reduce_scatter<whole>, scatter_cost<whole>, Order::any},
    {Operation::all_gather, Algorithm::ring, all_gather<whole>, gather_cost<whole>},
    {Operation::all_reduce, Algorithm::segmented_ring, all_reduce<cut>, all_reduce_cost<cut>, Order::any},
    {Operation::reduce_scatter, Algorithm::segmented_ring, reduce_scatter<cut>, scatter_cost<cut>,
     Order::any},
    {Operation::all_gather, Algorithm::segmented_ring, all_gather<cut>, gather_cost<cut>},
};

}  // namespace

std::span<const Entry> ring_entries() {
  return entries;
}

}  // namespace parley::schedule
