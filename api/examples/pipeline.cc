// A pipeline: each rank is a stage, and micro-batches flow through the stages one behind the other.
//
//   rank 0 makes them --> rank 1 adds 1 --> rank 2 adds 1 --> ... --> the last rank adds them up
//
// All micro-batches of a stage have the same size, source and destination, so that the operations are
// prepared once and started for each: persistent requests. Two buffers take turns, so that the next
// micro-batch arrives while this one is worked on.

#include <parley/parley.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <vector>

#include "api/examples/start.h"

namespace {

constexpr int micro_batches = 6;
constexpr std::size_t batch_size = 4;

using Buffer = std::array<float, batch_size>;

// One stage's end of the flow: two buffers, each with a request of its own.
struct Flow {
  std::array<Buffer, 2> buffers{};
  std::array<parley::PersistentRequest, 2> requests;
};

void run_first(parley::ProcessGroup& world) {
  Flow out;
  for (std::size_t i : {0, 1}) out.requests[i] = world.send_init(out.buffers[i], 1);
  for (int batch = 0; batch < micro_batches; ++batch) {
    const std::size_t turn = batch % 2;
    out.requests[turn].wait();  // its last send has ended
    out.buffers[turn].fill(static_cast<float>(batch));
    out.requests[turn].start();
  }
  wait_all(out.requests);
  std::printf("[Rank 0] sent %d micro-batches\n", micro_batches);
}

void run_stage(parley::ProcessGroup& world) {
  const int rank = world.rank();
  const bool is_last = rank == world.size() - 1;
  Flow in, out;
  for (std::size_t i : {0, 1}) {
    in.requests[i] = world.recv_init(in.buffers[i], rank - 1);
    if (!is_last) out.requests[i] = world.send_init(out.buffers[i], rank + 1);
  }

  float sum = 0;
  in.requests[0].start();
  for (int batch = 0; batch < micro_batches; ++batch) {
    const std::size_t turn = batch % 2;
    if (batch + 1 < micro_batches) in.requests[1 - turn].start();
    in.requests[turn].wait();
    out.requests[turn].wait();
    for (std::size_t i = 0; i < batch_size; ++i) out.buffers[turn][i] = in.buffers[turn][i] + 1;
    sum = std::accumulate(out.buffers[turn].begin(), out.buffers[turn].end(), sum);
    if (!is_last) out.requests[turn].start();
  }
  wait_all(out.requests);
  std::printf("[Rank %d] worked on %d micro-batches, their sum is %.0f\n", rank, micro_batches, sum);
}

void pipeline(parley::ProcessGroup& world) {
  if (world.size() < 2) return void(std::printf("[Rank %d] Two ranks are needed\n", world.rank()));
  world.rank() == 0 ? run_first(world) : run_stage(world);
}

}  // namespace

int main(int argc, char** argv) {
  int world_size = 4;
  CLI::App app("A pipeline of micro-batches.");
  app.add_option("--world-size", world_size, "Number of processes, without parley-run")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return start(world_size, pipeline);
}
