#include "api/schedule/chain.h"

#include <algorithm>
#include <array>

#include "api/schedule/segments.h"
#include "api/schedule/team.h"

namespace parley::schedule {
namespace {

std::uint64_t segment_of(const Shape& shape) {
  return shape.segment_count == 0 ? shape.count : std::min(shape.segment_count, shape.count);
}

// Places to receive segments into, in turn, so that the next can come while one is folded.
class Incoming {
 public:
  Incoming(Builder& builder, const Shape& shape)
      : buffers_{builder.scratch(segment_of(shape)),
                 builder.scratch(segments_of(shape.count, shape.segment_count) > 1 ? segment_of(shape) : 0)} {
  }
  Slice next(std::uint64_t count) { return buffers_[turn_++ % 2].part(0, count); }

 private:
  std::array<Slice, 2> buffers_;
  std::size_t turn_ = 0;
};

void broadcast(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape, shape.root);
  const bool is_first = team.me() == 0, is_last = team.me() + 1 == team.size();
  const Slice held = is_first ? builder.input() : builder.output();
  for_each_segment(shape.count, shape.segment_count, [&](std::uint64_t offset, std::uint64_t count) {
    if (!is_first) builder.receive(team.previous(), held.part(offset, count));
    if (!is_last) builder.send(team.next(), held.part(offset, count));
  });
  if (is_first) builder.copy(builder.input(), builder.output());
}

void reduce(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape, shape.root);
  const bool is_last = team.me() + 1 == team.size();
  if (is_last) {
    for_each_segment(shape.count, shape.segment_count, [&](std::uint64_t offset, std::uint64_t count) {
      builder.send(team.previous(), builder.input().part(offset, count));
    });
    return;
  }
  Incoming incoming(builder, shape);
  for_each_segment(shape.count, shape.segment_count, [&](std::uint64_t offset, std::uint64_t count) {
    const Slice theirs = incoming.next(count);
    const Slice sum = team.me() == 0 ? builder.output().part(offset, count) : theirs;
    builder.receive(team.next(), theirs);
    builder.reduce(sum, {builder.input().part(offset, count), theirs});
    if (team.me() != 0) builder.send(team.previous(), sum);
  });
}

void scan(Builder& builder, const Shape& shape) {
  const bool is_last = shape.rank + 1 == shape.size;
  if (shape.rank == 0) {
    for_each_segment(shape.count, shape.segment_count, [&](std::uint64_t offset, std::uint64_t count) {
      builder.send(1, builder.input().part(offset, count));
    });
    builder.copy(builder.input(), builder.output());
    return;
  }
  Incoming incoming(builder, shape);
  for_each_segment(shape.count, shape.segment_count, [&](std::uint64_t offset, std::uint64_t count) {
    const Slice lower = incoming.next(count);
    const Slice sum = builder.output().part(offset, count);
    builder.receive(shape.rank - 1, lower);
    builder.reduce(sum, {lower, builder.input().part(offset, count)});
    if (!is_last) builder.send(shape.rank + 1, sum);
  });
}

void exscan(Builder& builder, const Shape& shape) {
  const bool is_last = shape.rank + 1 == shape.size;
  if (shape.rank == 0) {
    for_each_segment(shape.count, shape.segment_count, [&](std::uint64_t offset, std::uint64_t count) {
      builder.send(1, builder.input().part(offset, count));
    });
    return;
  }
  Incoming incoming(builder, shape);
  Incoming outgoing(builder, shape);
  for_each_segment(shape.count, shape.segment_count, [&](std::uint64_t offset, std::uint64_t count) {
    // In place, this rank's input is needed until it is folded.
    const Slice result = builder.output().part(offset, count);
    const Slice lower = shape.in_place ? incoming.next(count) : result;
    builder.receive(shape.rank - 1, lower);
    if (!is_last) {
      const Slice sum = outgoing.next(count);
      builder.reduce(sum, {lower, builder.input().part(offset, count)});
      builder.send(shape.rank + 1, sum);
    }
    builder.copy(lower, result);
  });
}

// The last segment arrives when the chain was filled and all before it went through.
Cost pipeline(const Shape& shape, bool folds) {
  const std::uint64_t filled = shape.size - 2;
  return {.near = {filled + segments_of(shape.count, shape.segment_count),
                   filled * segment_of(shape) + shape.count, filled + 1},
          .sent = shape.count,
          .reduced = folds ? shape.count : 0};
}

Cost moving_cost(const Shape& shape) {
  return pipeline(shape, false);
}
Cost folding_cost(const Shape& shape) {
  return pipeline(shape, true);
}

constexpr Entry entries[] = {
    {Operation::broadcast, Algorithm::chain, broadcast, moving_cost},
    {Operation::reduce, Algorithm::chain, reduce, folding_cost, Order::rank_if_root_0},
    {Operation::scan, Algorithm::chain, scan, folding_cost},
    {Operation::exscan, Algorithm::chain, exscan, folding_cost},
};

}  // namespace

std::span<const Entry> chain_entries() {
  return entries;
}

}  // namespace parley::schedule
