// Each rank sends two numbers to its right neighbour and receives two from its left, in one batch:
//
//   0 --> 1 --> 2 --> ... --> 0
//
// A batch posts its receives before its sends, so that it may be written in any order.

#include <parley/parley.h>

#include <cstdio>
#include <vector>

#include "api/examples/start.h"

namespace {

void ring(parley::ProcessGroup& world, parley::Device device) {
  const int rank = world.rank(), size = world.size();
  const float first = 2 * static_cast<float>(rank);
  const std::vector<float> numbers{first, first + 1};
  const parley::Tensor out = parley::Tensor(numbers).to(device);
  const parley::Tensor in = parley::Tensor::empty({2}, parley::DType::f32, device);

  std::vector<parley::Work> works = world.batch_isend_irecv({
      {parley::P2POp::isend, out, (rank + 1) % size},
      {parley::P2POp::irecv, in, (rank + size - 1) % size},
  });
  wait_all(works);
  const auto received = values_of<float>(in);
  std::printf("[Rank %d] received [%.0f, %.0f]\n", rank, received[0], received[1]);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (const auto exit_code = read_options(options, argc, argv, "A ring in one batch.")) return *exit_code;
  return start(options, ring);
}
