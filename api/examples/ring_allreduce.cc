// The sum over all ranks, by hand: what came from the left in one step goes on to the right in the next, and
// is added up on the way. After size - 1 steps each rank has seen what every other one gave. Two buffers take
// turns: one is sent while the other is received into.

#include <parley/parley.h>

#include <cstddef>
#include <cstdio>
#include <span>
#include <vector>

#include "api/examples/start.h"

namespace {

void add(std::span<float> sum, std::span<const float> values) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
}

std::vector<float> all_reduce(parley::ProcessGroup& world, const std::vector<float>& mine,
                              parley::Device device) {
  const int left = (world.rank() + world.size() - 1) % world.size();
  const int right = (world.rank() + 1) % world.size();
  std::vector<float> sum = mine;
  const parley::Tensor first = parley::Tensor(mine).to(device), second = first.clone();

  for (int step = 0; step < world.size() - 1; ++step) {
    const parley::Tensor& out = step % 2 == 0 ? first : second;
    const parley::Tensor& in = step % 2 == 0 ? second : first;
    parley::Work sent = world.isend(out, right);
    world.recv(in, left);
    add(sum, values_of<float>(in));
    sent.wait();  // the next step receives into this buffer
  }
  return sum;
}

void show(parley::ProcessGroup& world, parley::Device device) {
  const auto rank = static_cast<float>(world.rank());
  const std::vector<float> sum = all_reduce(world, {1, rank, rank * rank}, device);
  std::printf("[Rank %d] has %.0f %.0f %.0f\n", world.rank(), sum[0], sum[1], sum[2]);
}

}  // namespace

int main(int argc, char** argv) {
  Options options{.world_size = 4};
  if (const auto exit_code = read_options(options, argc, argv, "An allreduce by hand, around a ring."))
    return *exit_code;
  return start(options, show);
}
