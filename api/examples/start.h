#pragma once

#include <parley/parley.h>

#include <optional>
#include <string>
#include <vector>

// What every example can be asked.
struct Options {
  int world_size = 2;
  std::string device = "cpu";
};

// What one of them can be asked besides.
struct Flag {
  const char* name;
  const char* meaning;
  bool& given;
};

// Reads the command line. The result is what main() shall return at once: help was asked for, or a word is
// wrong.
std::optional<int> read_options(Options& options, int argc, char** argv, const char* description,
                                const std::vector<Flag>& flags = {});

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
int start(const Options& options, void (*rank_main)(parley::ProcessGroup& world, parley::Device device));
