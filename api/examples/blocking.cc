// Blocking send and receive: every rank starts with 0, rank 0 adds 1 and sends the result to all others.

#include <parley/parley.h>

#include <cstdio>

#include "api/examples/start.h"

namespace {

void blocking(parley::ProcessGroup& world, parley::Device device) {
  const int rank = world.rank();
  const parley::Tensor tensor = parley::Tensor::zeros({1}, parley::DType::f32, device);

  if (rank == 0) {
    set_value(tensor, value_of(tensor) + 1);
    // send() returns as soon as the tensor may be changed again.
    for (int other = 1; other < world.size(); ++other) world.send(tensor, other);
  } else {
    // recv() returns when the value has arrived; the tensor is the memory it arrives in.
    world.recv(tensor, 0);
  }
  std::printf("[Rank %d] has data %.1f\n", rank, value_of(tensor));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (const auto exit_code = read_options(
          options, argc, argv, "Sends a tensor from rank 0 to every other rank, with blocking calls."))
    return *exit_code;
  return start(options, blocking);
}
