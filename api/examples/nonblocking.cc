// Non-blocking send and receive: isend() and irecv() return at once, with a Work to wait for. In between the
// rank may compute, but a tensor that is being sent must not be changed and one that is being received not be
// read.

#include <parley/parley.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <vector>

#include "api/examples/start.h"

namespace {

void nonblocking(parley::ProcessGroup& world) {
  const int rank = world.rank();
  parley::Tensor tensor = parley::Tensor::zeros({1});
  std::vector<parley::Work> works;

  if (rank == 0) {
    tensor.fill(tensor.item() + 1);
    for (int other = 1; other < world.size(); ++other) works.push_back(world.isend(tensor, other));
    std::printf("[Rank %d] started sending\n", rank);
  } else {
    works.push_back(world.irecv(tensor, 0));
    std::printf("[Rank %d] started receiving\n", rank);
  }

  parley::wait_all(works);  // only now is the value certain to be there
  std::printf("[Rank %d] has data %.1f\n", rank, tensor.item());
}

}  // namespace

int main(int argc, char** argv) {
  int world_size = 2;
  CLI::App app("Sends a tensor from rank 0 to every other rank, with non-blocking calls.");
  app.add_option("--world-size", world_size, "Number of processes, without parley-run")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return start(world_size, nonblocking);
}
