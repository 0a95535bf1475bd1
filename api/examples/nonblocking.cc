// Non-blocking send and receive: isend() and irecv() return at once, with a Work to wait for. In between the
// rank may compute, but a tensor that is being sent must not be changed and one that is being received not be
// read.

#include <parley/parley.h>

#include <cstdio>
#include <vector>

#include "api/examples/start.h"

namespace {

void nonblocking(parley::ProcessGroup& world, parley::Device device) {
  const int rank = world.rank();
  const parley::Tensor tensor = parley::Tensor::zeros({1}, parley::DType::f32, device);
  std::vector<parley::Work> works;

  if (rank == 0) {
    set_value(tensor, value_of(tensor) + 1);
    for (int other = 1; other < world.size(); ++other) works.push_back(world.isend(tensor, other));
    std::printf("[Rank %d] started sending\n", rank);
  } else {
    works.push_back(world.irecv(tensor, 0));
    std::printf("[Rank %d] started receiving\n", rank);
  }

  parley::wait_all(works);  // only now is the value certain to be there
  std::printf("[Rank %d] has data %.1f\n", rank, value_of(tensor));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (const auto exit_code = read_options(
          options, argc, argv, "Sends a tensor from rank 0 to every other rank, with non-blocking calls."))
    return *exit_code;
  return start(options, nonblocking);
}
