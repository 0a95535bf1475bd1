// Blocking send and receive: every rank starts with 0, rank 0 adds 1 and sends the result to all others.

#include <parley/parley.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "api/examples/start.h"

namespace {

void blocking(parley::ProcessGroup& world) {
  const int rank = world.rank();
  parley::Tensor tensor = parley::Tensor::zeros({1});

  if (rank == 0) {
    tensor.fill(tensor.item() + 1);
    // send() returns as soon as the tensor may be changed again.
    for (int other = 1; other < world.size(); ++other) world.send(tensor, other);
  } else {
    // recv() returns when the value has arrived; the tensor is the memory it arrives in.
    world.recv(tensor, 0);
  }
  std::printf("[Rank %d] has data %.1f\n", rank, tensor.item());
}

}  // namespace

int main(int argc, char** argv) {
  int world_size = 2;
  CLI::App app("Sends a tensor from rank 0 to every other rank, with blocking calls.");
  app.add_option("--world-size", world_size, "Number of processes, without parley-run")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return start(world_size, blocking);
}
