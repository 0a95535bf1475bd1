#pragma once

#include <parley/parley.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

// What every example can be asked.
struct Options {
  int world_size = 2;
  std::string device = "cpu";
};

inline void add_options(CLI::App& app, Options& options) {
  app.add_option("--world-size", options.world_size, "Number of processes, without parley-run")
      ->capture_default_str();
  app.add_option("--device", options.device, "Where tensors lie")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
}

// Ranks of a host share its GPUs in turn. Where there is none, the first tensor says why.
inline parley::Device device_for(const Options& options, const parley::ProcessGroup& world) {
  if (options.device == "cpu") return {};
  return {parley::Device::cuda, world.local_rank() % std::max(parley::device_count(), 1)};
}

// The CPU reads and writes no memory of a GPU: what a tensor holds, wherever it lies, comes and goes as a
// copy.
template <typename T>
std::vector<T> values_of(const parley::Tensor& tensor) {
  const parley::Tensor copy = tensor.to({});
  const auto values = copy.data_as<const T>();
  return {values.begin(), values.end()};
}
inline double value_of(const parley::Tensor& tensor) {
  return tensor.to({}).item();
}
inline void set_value(const parley::Tensor& tensor, double value) {
  tensor.copy_from(parley::Tensor::full(tensor.shape(), value, tensor.dtype()));
}

// Runs `rank_main` once in each process, however this program was started:
//   build/bin/chain --world-size 4       no launcher: spawn() starts the processes
//   parley-run -n 4 build/bin/chain      this process is one rank of four already
// Returns what main() shall return.
inline int start(const Options& options,
                 void (*rank_main)(parley::ProcessGroup& world, parley::Device device)) {
  const auto run = [&options, rank_main](int, int) {
    parley::ProcessGroup world =
        parley::init();  // RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT tell it the rest
    rank_main(world, device_for(options, world));
    parley::destroy();
  };
  try {
    if (std::getenv("RANK") == nullptr)
      return parley::spawn(options.world_size, run, {.prefix_output = false});
    run(0, 0);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
