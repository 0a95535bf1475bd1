#include "tests/multiprocess/collectives/mix.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

// Mostly small ones, some of up to 2 MiB of 8 B: also what may be lent.
std::size_t random_count(Random& random) {
  return random.below(std::size_t{1} << (1 + (random.one_in(20) ? 13 + random.below(5) : random.below(11))));
}

// Elements are small whole numbers: the sum of 24 ranks fits into 7 bits, and no type rounds.
template <typename T>
T element(Random& seed_of_call, std::size_t rank, std::size_t index) {
  Random random(seed_of_call);
  return static_cast<T>((random.next() + rank * 7 + index * 3) % 5);
}

// A rank's elements: in memory that the others can map, or in its own, as it happens on each rank.
template <typename T>
class Data {
 public:
  Data(ProcessGroup& group, std::size_t count, Random draw) {
    for (int i = 0; i <= group.rank(); ++i) draw.next();
    if (count > 0 && draw.one_in(2)) {
      shared_ = group.shared_tensor({static_cast<std::int64_t>(count * sizeof(T))}, DType::u8);
      elements_ = {reinterpret_cast<T*>(shared_.mutable_data()), count};
    } else {
      own_.resize(count);
      elements_ = own_;
    }
  }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;
  T& operator[](std::size_t index) { return elements_[index]; }
  [[nodiscard]] Tensor tensor() const { return Tensor(elements_); }

 private:
  std::vector<T> own_;
  Tensor shared_;
  std::span<T> elements_;
};

template <typename T>
T folded(ReduceOp::Kind op, T left, T right) {
  switch (op) {
    case ReduceOp::sum: return static_cast<T>(left + right);
    case ReduceOp::max: return left < right ? right : left;
    default: return right < left ? right : left;
  }
}

template <typename T>
void all_reduce(ProcessGroup& group, Random& random) {
  constexpr std::array operators{ReduceOp::sum, ReduceOp::min, ReduceOp::max};
  const ReduceOp::Kind op = operators[random.below(operators.size())];
  const std::size_t count = random_count(random);
  const bool is_async = random.one_in(3);
  const auto determinism = random.one_in(4) ? Determinism::rank_order : Determinism::same_bits;
  Random seed(random.next());
  Data<T> data(group, count, seed);
  const auto self = static_cast<std::size_t>(group.rank());
  for (std::size_t i = 0; i < count; ++i) data[i] = element<T>(seed, self, i);
  group.all_reduce(data.tensor(), {.op = op, .async_op = is_async, .determinism = determinism}).wait();
  for (std::size_t i = 0; i < count; ++i) {
    T expected = element<T>(seed, 0, i);
    for (std::size_t rank = 1; rank < static_cast<std::size_t>(group.size()); ++rank)
      expected = folded(op, expected, element<T>(seed, rank, i));
    if (data[i] != expected) expect_equal(data[i], expected, "all_reduce, element " + std::to_string(i));
  }
}

template <typename T>
void broadcast(ProcessGroup& group, Random& random) {
  const std::size_t count = random_count(random);
  const std::size_t root = random.below(static_cast<std::size_t>(group.size()));
  const bool is_async = random.one_in(3);
  Random seed(random.next());
  Data<T> data(group, count, seed);
  if (static_cast<std::size_t>(group.rank()) == root)
    for (std::size_t i = 0; i < count; ++i) data[i] = element<T>(seed, root, i);
  group.broadcast(data.tensor(), static_cast<int>(root), {.async_op = is_async}).wait();
  for (std::size_t i = 0; i < count; ++i)
    if (data[i] != element<T>(seed, root, i))
      expect_equal(data[i], element<T>(seed, root, i), "broadcast, element " + std::to_string(i));
}

// Several under way at once, which end in any order.
void many_at_once(ProcessGroup& group, Random& random) {
  const std::size_t calls = 1 + random.below(80);  // more than are under way at most
  std::vector<std::int64_t> values(calls, group.rank());
  std::vector<Work> works;
  for (std::int64_t& value : values)
    works.push_back(group.all_reduce(Tensor(std::span(&value, 1)), {.async_op = true}));
  wait_all(works);
  const std::int64_t expected = std::int64_t{group.size()} * (group.size() - 1) / 2;
  for (const std::int64_t value : values) expect_equal(value, expected, "one of many sums");
}

void to_the_next(ProcessGroup& group, Random& random) {
  const std::size_t count = random_count(random);
  const int size = group.size(), self = group.rank();
  const std::vector<int> out(count, self);
  std::vector<int> in(count, -1);
  group.sendrecv(out, (self + 1) % size, in, (self + size - 1) % size);
  expect(in == std::vector<int>(count, (self + size - 1) % size), "content from the rank below");
}

void barrier(ProcessGroup& group, Random&) {
  group.barrier();
}

}  // namespace

const std::vector<MixedCall>& mixed_calls() {
  static const std::vector<MixedCall> calls{
      {"all_reduce of i8", all_reduce<std::int8_t>},
      {"all_reduce of i32", all_reduce<std::int32_t>},
      {"all_reduce of i64", all_reduce<std::int64_t>},
      {"all_reduce of f32", all_reduce<float>},
      {"all_reduce of f64", all_reduce<double>},
      {"broadcast of u8", broadcast<std::uint8_t>},
      {"broadcast of f64", broadcast<double>},
      {"many at once", many_at_once},
      {"sendrecv", to_the_next},
      {"barrier", barrier},
  };
  return calls;
}

void run_mixed_call(ProcessGroup& group, Random& random) {
  const MixedCall& call = mixed_calls()[random.below(mixed_calls().size())];
  call.run(group, random);
}

}  // namespace parley::testing
