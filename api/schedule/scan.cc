#include "api/schedule/scan.h"

#include <array>
#include <vector>

#include "api/schedule/rounds.h"

namespace parley::schedule {
namespace {

std::vector<Slice> exchange_upwards(Builder& builder, const Shape& shape) {
  for (std::uint32_t rank = shape.rank + 1; rank < shape.size; ++rank) builder.send(rank, builder.input());
  std::vector<Slice> lower;
  for (std::uint32_t rank = 0; rank < shape.rank; ++rank) {
    lower.push_back(builder.scratch(shape.count));
    builder.receive(rank, lower.back());
  }
  return lower;
}

void linear_scan(Builder& builder, const Shape& shape) {
  std::vector<Slice> operands = exchange_upwards(builder, shape);
  operands.push_back(builder.input());
  builder.reduce(builder.output(), operands);
}

void linear_exscan(Builder& builder, const Shape& shape) {
  const std::vector<Slice> operands = exchange_upwards(builder, shape);
  if (!operands.empty()) builder.reduce(builder.output(), operands);
}

Cost linear_cost(const Shape& shape) {
  const std::uint64_t messages = shape.size - 1;
  const std::uint64_t elements = messages * shape.count;
  return {.near = {messages, elements, 1}, .sent = elements, .reduced = elements};
}

void doubling_scan(Builder& builder, const Shape& shape) {
  const std::array received{builder.scratch(shape.count), builder.scratch(shape.count)};
  Slice sum = builder.input();
  std::size_t turn = 0;
  for (std::uint32_t distance = 1; distance < shape.size; distance *= 2) {
    if (shape.rank + distance < shape.size) builder.send(shape.rank + distance, sum);
    if (shape.rank < distance) continue;
    const Slice& lower = received[turn++ % 2];
    builder.receive(shape.rank - distance, lower);
    builder.reduce(builder.output(), {lower, sum});
    sum = builder.output();
  }
  builder.copy(sum, builder.output());
}

void doubling_exscan(Builder& builder, const Shape& shape) {
  const std::array received{builder.scratch(shape.count), builder.scratch(shape.count)};
  const Slice inclusive = builder.scratch(shape.count);
  const Slice below = builder.scratch(shape.in_place ? shape.count : 0);
  Slice sum = builder.input();
  Slice lower_sum{};  // of all ranks below, as far as they are known
  std::size_t turn = 0;
  for (std::uint32_t distance = 1; distance < shape.size; distance *= 2) {
    if (shape.rank + distance < shape.size) builder.send(shape.rank + distance, sum);
    if (shape.rank < distance) continue;
    const Slice& lower = received[turn++ % 2];
    builder.receive(shape.rank - distance, lower);
    // In place, this rank's input is in the output until it is folded.
    const Slice target = shape.in_place ? below : builder.output();
    if (lower_sum.count == 0)
      builder.copy(lower, target);
    else
      builder.reduce(target, {lower, lower_sum});
    lower_sum = target;
    if (shape.rank + 2 * distance >= shape.size) continue;
    builder.reduce(inclusive, {lower, sum});
    sum = inclusive;
  }
  if (shape.rank > 0) builder.copy(lower_sum, builder.output());
}

Cost doubling_scan_cost(const Shape& shape) {
  const std::uint64_t rounds = doubling_rounds(shape.size);
  return {
      .near = {rounds, rounds * shape.count}, .sent = rounds * shape.count, .reduced = rounds * shape.count};
}

Cost doubling_exscan_cost(const Shape& shape) {
  Cost cost = doubling_scan_cost(shape);
  cost.reduced *= 2;
  return cost;
}

constexpr Entry entries[] = {
    {Operation::scan, Algorithm::linear, linear_scan, linear_cost, Order::rank, true},
    {Operation::exscan, Algorithm::linear, linear_exscan, linear_cost, Order::rank, true},
    {Operation::scan, Algorithm::recursive_doubling, doubling_scan, doubling_scan_cost},
    {Operation::exscan, Algorithm::recursive_doubling, doubling_exscan, doubling_exscan_cost},
};

}  // namespace

std::span<const Entry> scan_entries() {
  return entries;
}

}  // namespace parley::schedule
