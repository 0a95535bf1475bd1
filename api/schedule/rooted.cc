#include "api/schedule/rooted.h"

#include <vector>

namespace parley::schedule {
namespace {

constexpr std::uint32_t root = 0;

void all_reduce(Builder& builder, const Shape& shape) {
  if (shape.rank != root) {
    builder.send(root, builder.input());
    builder.receive(root, builder.output());
    return;
  }
  std::vector<Slice> operands(shape.size, builder.input());
  for (std::uint32_t rank = 1; rank < shape.size; ++rank) {
    operands[rank] = builder.scratch(shape.count);
    builder.receive(rank, operands[rank]);
  }
  builder.reduce(builder.output(), operands);
  for (std::uint32_t rank = 1; rank < shape.size; ++rank) builder.send(rank, builder.output());
}

Cost all_reduce_cost(const Shape& shape) {
  const std::uint64_t messages = shape.size - 1;
  const std::uint64_t elements = messages * shape.count;
  return {.near = {2 * messages, 2 * elements, 2}, .sent = elements, .reduced = elements};
}

constexpr Entry entries[] = {
    {Operation::all_reduce, Algorithm::rooted, all_reduce, all_reduce_cost, Order::rank, true},
};

}  // namespace

std::span<const Entry> rooted_entries() {
  return entries;
}

}  // namespace parley::schedule
