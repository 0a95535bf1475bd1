// A pipeline: each rank is a stage, and micro-batches flow through the stages one behind the other.
//
//   rank 0 makes them --> rank 1 adds 1 --> rank 2 adds 1 --> ... --> the last rank adds them up
//
// All micro-batches of a stage have the same size, source and destination, so that the operations are
// prepared once and started for each: persistent requests. Two buffers take turns, so that the next
// micro-batch arrives while this one is worked on.

#include <parley/parley.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "api/examples/start.h"

namespace {

constexpr int micro_batches = 6;
constexpr std::size_t batch_size = 4;

// One stage's end of the flow: two buffers, each with a request of its own.
struct Flow {
  explicit Flow(parley::Device device) {
    for (parley::Tensor& buffer : buffers)
      buffer = parley::Tensor::zeros({batch_size}, parley::DType::f32, device);
  }
  std::array<parley::Tensor, 2> buffers;
  std::array<parley::PersistentRequest, 2> requests;
};

void run_first(parley::ProcessGroup& world, parley::Device device) {
  Flow out(device);
  for (std::size_t i : {0, 1}) out.requests[i] = world.send_init(out.buffers[i], 1);
  for (int batch = 0; batch < micro_batches; ++batch) {
    const std::size_t turn = batch % 2;
    out.requests[turn].wait();  // its last send has ended
    set_value(out.buffers[turn], batch);
    out.requests[turn].start();
  }
  wait_all(out.requests);
  std::printf("[Rank 0] sent %d micro-batches\n", micro_batches);
}

void run_stage(parley::ProcessGroup& world, parley::Device device) {
  const int rank = world.rank();
  const bool is_last = rank == world.size() - 1;
  Flow in(device), out(device);
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
    std::vector<float> numbers = values_of<float>(in.buffers[turn]);
    for (float& number : numbers) sum += ++number;
    out.buffers[turn].copy_from(numbers);
    if (!is_last) out.requests[turn].start();
  }
  wait_all(out.requests);
  std::printf("[Rank %d] worked on %d micro-batches, their sum is %.0f\n", rank, micro_batches, sum);
}

void pipeline(parley::ProcessGroup& world, parley::Device device) {
  if (world.size() < 2) return void(std::printf("[Rank %d] Two ranks are needed\n", world.rank()));
  world.rank() == 0 ? run_first(world, device) : run_stage(world, device);
}

}  // namespace

int main(int argc, char** argv) {
  Options options{.world_size = 4};
  if (const auto exit_code = read_options(options, argc, argv, "A pipeline of micro-batches."))
    return *exit_code;
  return start(options, pipeline);
}
