#include "api/schedule/binary_tree.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "api/schedule/segments.h"
#include "api/schedule/team.h"

namespace parley::schedule {
namespace {

// A heap of the ranks from the root on.
std::vector<std::uint32_t> children(const Team& team) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t child = 2 * team.me() + 1; child <= 2 * team.me() + 2; ++child)
    if (child < team.size()) found.push_back(team.rank(child));
  return found;
}

std::uint32_t parent(const Team& team) {
  return team.rank((team.me() - 1) / 2);
}

void broadcast(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape, shape.root);
  const Slice held = team.me() == 0 ? builder.input() : builder.output();
  for_each_segment(shape.count, shape.segment_count, [&](std::uint64_t offset, std::uint64_t count) {
    if (team.me() != 0) builder.receive(parent(team), held.part(offset, count));
    for (const std::uint32_t child : children(team)) builder.send(child, held.part(offset, count));
  });
  if (team.me() == 0) builder.copy(builder.input(), builder.output());
}

void reduce(Builder& builder, const Shape& shape) {
  const Team team = Team::all(shape, shape.root);
  const std::uint64_t segments = segments_of(shape.count, shape.segment_count);
  const std::uint64_t most = segments == 1 ? shape.count : shape.segment_count;
  // For each child two places, so that the next segment can come while one is folded.
  std::vector<std::array<Slice, 2>> received;
  for (std::size_t i = 0; i < children(team).size(); ++i)
    received.push_back({builder.scratch(most), builder.scratch(segments > 1 ? most : 0)});
  std::size_t turn = 0;
  for_each_segment(shape.count, shape.segment_count, [&](std::uint64_t offset, std::uint64_t count) {
    std::vector<Slice> operands{builder.input().part(offset, count)};
    for (std::size_t i = 0; i < received.size(); ++i) {
      operands.push_back(received[i][turn % 2].part(0, count));
      builder.receive(children(team)[i], operands.back());
    }
    ++turn;
    const Slice sum = team.me() == 0 ? builder.output().part(offset, count) : operands.back();
    if (operands.size() > 1) builder.reduce(sum, operands);
    if (team.me() != 0) builder.send(parent(team), sum);
  });
}

Cost pipeline(const Shape& shape) {
  const std::uint64_t segments = segments_of(shape.count, shape.segment_count);
  const std::uint64_t segment = segments == 1 ? shape.count : shape.segment_count;
  const auto levels = static_cast<std::uint64_t>(std::bit_width(shape.size) - 1);
  return {.near = {2 * (levels + segments - 1), 2 * ((levels - 1) * segment + shape.count), levels}};
}

Cost broadcast_cost(const Shape& shape) {
  Cost cost = pipeline(shape);
  cost.sent = 2 * shape.count;
  return cost;
}

Cost reduce_cost(const Shape& shape) {
  Cost cost = pipeline(shape);
  cost.sent = shape.count;
  cost.reduced = 2 * shape.count;
  return cost;
}

constexpr Entry entries[] = {
    {Operation::broadcast, Algorithm::binary_tree, broadcast, broadcast_cost},
    {Operation::reduce, Algorithm::binary_tree, reduce, reduce_cost, Order::any},
};

}  // namespace

std::span<const Entry> binary_tree_entries() {
  return entries;
}

}  // namespace parley::schedule
