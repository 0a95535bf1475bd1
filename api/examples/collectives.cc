// Every collective once. Rank r gives r + 1, or r + 1 times ten to the number of the rank it is for.

#include <parley/parley.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "api/examples/start.h"

namespace {

using Numbers = std::vector<int>;
using parley::Tensor;
constexpr parley::DType i32 = parley::DType::i32;

void show(const parley::ProcessGroup& world, const char* name, const Tensor& tensor) {
  std::string text;
  for (const int number : values_of<int>(tensor)) text += " " + std::to_string(number);
  std::printf("[Rank %d] %s:%s\n", world.rank(), name, text.c_str());
}

// The numbers of a tensor, each a tensor of its own in the same memory.
std::vector<Tensor> one_each(const Tensor& tensor) {
  std::vector<Tensor> list;
  for (std::int64_t i = 0; i < tensor.shape()[0]; ++i) list.push_back(tensor.narrow(0, i, 1));
  return list;
}

Tensor own_number(const parley::ProcessGroup& world, parley::Device device) {
  return Tensor::full({1}, world.rank() + 1, i32, device);
}

Tensor one_for_each_rank(const parley::ProcessGroup& world, parley::Device device) {
  Numbers numbers;
  for (int rank = 0, ten = 1; rank < world.size(); ++rank, ten *= 10)
    numbers.push_back((world.rank() + 1) * ten);
  return Tensor(numbers).to(device);
}

void to_and_from_one(parley::ProcessGroup& world, parley::Device device) {
  const bool is_root = world.rank() == 0;
  const Tensor own = own_number(world, device), numbers = one_for_each_rank(world, device);

  const Tensor sent = own.clone();
  world.broadcast(sent, 0);
  show(world, "broadcast", sent);

  const Tensor sum = own.clone();
  world.reduce(sum, 0);
  if (is_root) show(world, "reduce", sum);

  const Tensor part = own.clone();
  world.scatter(part, is_root ? one_each(numbers) : std::vector<Tensor>(), 0);
  show(world, "scatter", part);

  const Tensor all = numbers.clone();
  world.gather(is_root ? one_each(all) : std::vector<Tensor>(), own, 0);
  if (is_root) show(world, "gather", all);
}

void among_all(parley::ProcessGroup& world, parley::Device device) {
  const Tensor own = own_number(world, device), numbers = one_for_each_rank(world, device);
  const Tensor all = numbers.clone(), part = own.clone();

  const Tensor largest = own.clone();
  world.all_reduce(largest, {.op = parley::ReduceOp::max});
  show(world, "all_reduce(max)", largest);

  world.all_gather(one_each(all), own);
  show(world, "all_gather", all);
  world.all_gather_into_tensor(all, own);
  show(world, "all_gather_into_tensor", all);

  world.reduce_scatter(part, one_each(numbers));
  show(world, "reduce_scatter", part);
  world.reduce_scatter_tensor(part, numbers);
  show(world, "reduce_scatter_tensor", part);

  world.all_to_all(one_each(all), one_each(numbers));
  show(world, "all_to_all", all);
  parley::Work work = world.all_to_all_single(all, numbers, {.async_op = true});
  work.wait();
  show(world, "all_to_all_single", all);

  const Tensor up_to_here = own.clone(), below = own.clone();
  world.scan(up_to_here);
  show(world, "scan", up_to_here);
  world.exscan(below);
  show(world, "exscan", below);

  world.barrier();
  world.monitored_barrier();
}

// The first two ranks are a group, and all others have no part in it.
void in_a_group(parley::ProcessGroup& world, parley::Device device) {
  parley::ProcessGroup group = world.new_group({0, 1});
  if (!group.is_member()) return;
  const Tensor sum = own_number(world, device);
  group.all_reduce(sum);
  show(world, "all_reduce in the group of two", sum);
}

// Once around a ring, by hand: in another order, and integers do not mind.
bool agrees_with_a_ring(parley::ProcessGroup& world, parley::Device device) {
  const int left = (world.rank() + world.size() - 1) % world.size();
  const int right = (world.rank() + 1) % world.size();
  Numbers by_hand(1000);
  for (std::size_t i = 0; i < by_hand.size(); ++i) by_hand[i] = static_cast<int>(i) * (world.rank() + 1);
  const Tensor mine = Tensor(by_hand).to(device);

  Tensor out = mine.clone(), in = mine.clone();
  for (int step = 0; step < world.size() - 1; ++step) {
    world.sendrecv(out, right, in, left);
    const Numbers received = values_of<int>(in);
    for (std::size_t i = 0; i < received.size(); ++i) by_hand[i] += received[i];
    std::swap(out, in);
  }
  world.all_reduce(mine);
  return values_of<int>(mine) == by_hand;
}

void collectives(parley::ProcessGroup& world, parley::Device device) {
  to_and_from_one(world, device);
  among_all(world, device);
  if (world.size() > 1) in_a_group(world, device);
  std::printf("[Rank %d] all_reduce and a ring by hand: %s\n", world.rank(),
              agrees_with_a_ring(world, device) ? "the same" : "different");
}

}  // namespace

int main(int argc, char** argv) {
  Options options{.world_size = 4};
  if (const auto exit_code = read_options(options, argc, argv, "Every collective once.")) return *exit_code;
  return start(options, collectives);
}
