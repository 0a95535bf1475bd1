// Every collective once. Rank r gives r + 1, or r + 1 times ten to the number of the rank it is for.

#include <parley/parley.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "api/examples/start.h"

namespace {

using Numbers = std::vector<int>;

void show(const parley::ProcessGroup& world, const char* name, const Numbers& numbers) {
  std::string text;
  for (const int number : numbers) text += " " + std::to_string(number);
  std::printf("[Rank %d] %s:%s\n", world.rank(), name, text.c_str());
}

// A tensor for each rank, of one number.
std::vector<parley::Tensor> one_each(Numbers& numbers) {
  std::vector<parley::Tensor> list;
  for (int& number : numbers) list.emplace_back(std::span<int>(&number, 1));
  return list;
}

Numbers for_each_rank(const parley::ProcessGroup& world) {
  Numbers numbers;
  for (int rank = 0, ten = 1; rank < world.size(); ++rank, ten *= 10)
    numbers.push_back((world.rank() + 1) * ten);
  return numbers;
}

void to_and_from_one(parley::ProcessGroup& world) {
  const bool is_root = world.rank() == 0;
  Numbers own{world.rank() + 1}, numbers = for_each_rank(world);

  Numbers sent = own;
  world.broadcast(sent, 0);
  show(world, "broadcast", sent);

  Numbers sum = own;
  world.reduce(sum, 0);
  if (is_root) show(world, "reduce", sum);

  Numbers part(1);
  world.scatter(part, is_root ? one_each(numbers) : std::vector<parley::Tensor>(), 0);
  show(world, "scatter", part);

  Numbers all(is_root ? numbers.size() : 0);
  world.gather(one_each(all), own, 0);
  if (is_root) show(world, "gather", all);
}

void among_all(parley::ProcessGroup& world) {
  Numbers own{world.rank() + 1}, numbers = for_each_rank(world);
  Numbers all(numbers.size()), part(1);

  Numbers largest = own;
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

  Numbers up_to_here = own, below = own;
  world.scan(up_to_here);
  show(world, "scan", up_to_here);
  world.exscan(below);
  show(world, "exscan", below);

  world.barrier();
  world.monitored_barrier();
}

// The first two ranks are a group, and all others have no part in it.
void in_a_group(parley::ProcessGroup& world) {
  parley::ProcessGroup group = world.new_group({0, 1});
  if (!group.is_member()) return;
  Numbers sum{world.rank() + 1};
  group.all_reduce(sum);
  show(world, "all_reduce in the group of two", sum);
}

// Once around a ring, by hand: in another order, and integers do not mind.
bool agrees_with_a_ring(parley::ProcessGroup& world) {
  const int left = (world.rank() + world.size() - 1) % world.size();
  const int right = (world.rank() + 1) % world.size();
  Numbers mine(1000);
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = static_cast<int>(i) * (world.rank() + 1);

  Numbers by_hand = mine, out = mine, in(mine.size());
  for (int step = 0; step < world.size() - 1; ++step) {
    world.sendrecv(out, right, in, left);
    for (std::size_t i = 0; i < in.size(); ++i) by_hand[i] += in[i];
    out.swap(in);
  }
  world.all_reduce(mine);
  return mine == by_hand;
}

void collectives(parley::ProcessGroup& world) {
  to_and_from_one(world);
  among_all(world);
  if (world.size() > 1) in_a_group(world);
  std::printf("[Rank %d] all_reduce and a ring by hand: %s\n", world.rank(),
              agrees_with_a_ring(world) ? "the same" : "different");
}

}  // namespace

int main(int argc, char** argv) {
  int world_size = 4;
  CLI::App app("Every collective once.");
  app.add_option("--world-size", world_size, "Number of processes, without parley-run")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return start(world_size, collectives);
}
