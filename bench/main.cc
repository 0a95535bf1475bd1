// parley-bench: measures the library between pairs of processes. It starts them itself, or is one of them
// when a launcher has set RANK.
#include <parley/init.h>
#include <parley/launch.h>

#include <cstdlib>
#include <exception>
#include <iostream>

#include "bench/options.h"
#include "bench/rank_main.h"

namespace {

int run(const parley::bench::Options& options) {
  if (std::getenv("RANK") != nullptr) {
    parley::bench::rank_main(options);
    return 0;
  }
  parley::SpawnOptions spawn_options;
  spawn_options.prefix_output = false;
  return parley::spawn(
      options.ranks.value_or(2), [&](int, int) { parley::bench::rank_main(options); }, spawn_options);
}

}  // namespace

int main(int argc, char** argv) {
  const auto parsed = parley::bench::parse_options(argc, argv);
  if (!parsed.options) return parsed.exit_code;
  try {
    return run(*parsed.options);
  } catch (const std::exception& error) {
    std::cerr << "parley-bench: " << error.what() << '\n';
    return 1;
  }
}
