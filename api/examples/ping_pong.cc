// Two ranks pass a number back and forth, and each adds 1 before it sends. With more than two ranks, every
// even rank plays with the next odd one.

#include <parley/parley.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "api/examples/start.h"

namespace {

void say(int rank, const char* when, const parley::Tensor& tensor) {
  std::printf("[Rank %d] %s: %.1f\n", rank, when, tensor.item());
}

void ping_pong(parley::ProcessGroup& world) {
  const int rank = world.rank();
  const int partner = rank % 2 == 0 ? rank + 1 : rank - 1;
  if (partner == world.size()) {  // an odd number of ranks: the last one has nobody to play with
    std::printf("[Rank %d] No partner: rank %d is missing, the number of ranks is odd\n", rank, partner);
    return;
  }
  parley::Tensor tensor = parley::Tensor::zeros({1});

  if (rank % 2 == 0) {
    tensor.fill(tensor.item() + 1);
    world.send(tensor, partner);
    say(rank, "after send", tensor);
    world.recv(tensor, partner);
    say(rank, "after recv", tensor);
  } else {
    world.recv(tensor, partner);
    say(rank, "after recv", tensor);
    tensor.fill(tensor.item() + 1);
    world.send(tensor, partner);
    say(rank, "after send", tensor);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int world_size = 2;
  CLI::App app("Two processes pass a number back and forth.");
  app.add_option("--world-size", world_size, "Number of processes, without parley-run")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return start(world_size, ping_pong);
}
