// Each rank sends two numbers to its right neighbour and receives two from its left, in one batch:
//
//   0 --> 1 --> 2 --> ... --> 0
//
// A batch posts its receives before its sends, so that it may be written in any order.

#include <parley/parley.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <vector>

#include "api/examples/start.h"

namespace {

void ring(parley::ProcessGroup& world) {
  const int rank = world.rank(), size = world.size();
  const float first = 2 * static_cast<float>(rank);
  const std::vector<float> out{first, first + 1};
  std::vector<float> in(2);

  std::vector<parley::Work> works = world.batch_isend_irecv({
      {parley::P2POp::isend, out, (rank + 1) % size},
      {parley::P2POp::irecv, in, (rank + size - 1) % size},
  });
  wait_all(works);
  std::printf("[Rank %d] received [%.0f, %.0f]\n", rank, in[0], in[1]);
}

}  // namespace

int main(int argc, char** argv) {
  int world_size = 2;
  CLI::App app("A ring in one batch.");
  app.add_option("--world-size", world_size, "Number of processes, without parley-run")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return start(world_size, ring);
}
