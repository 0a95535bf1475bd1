// Two ranks pass a number back and forth, and each adds 1 before it sends. With more than two ranks, every
// even rank plays with the next odd one.

#include <parley/parley.h>

#include <cstdio>

#include "api/examples/start.h"

namespace {

void say(int rank, const char* when, const parley::Tensor& tensor) {
  std::printf("[Rank %d] %s: %.1f\n", rank, when, value_of(tensor));
}

void ping_pong(parley::ProcessGroup& world, parley::Device device) {
  const int rank = world.rank();
  const int partner = rank % 2 == 0 ? rank + 1 : rank - 1;
  if (partner == world.size()) {  // an odd number of ranks: the last one has nobody to play with
    std::printf("[Rank %d] No partner: rank %d is missing, the number of ranks is odd\n", rank, partner);
    return;
  }
  const parley::Tensor tensor = parley::Tensor::zeros({1}, parley::DType::f32, device);

  if (rank % 2 == 0) {
    set_value(tensor, value_of(tensor) + 1);
    world.send(tensor, partner);
    say(rank, "after send", tensor);
    world.recv(tensor, partner);
    say(rank, "after recv", tensor);
  } else {
    world.recv(tensor, partner);
    say(rank, "after recv", tensor);
    set_value(tensor, value_of(tensor) + 1);
    world.send(tensor, partner);
    say(rank, "after send", tensor);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (const auto exit_code = read_options(options, argc, argv, "Two processes pass a number back and forth."))
    return *exit_code;
  return start(options, ping_pong);
}
