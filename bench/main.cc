// parley-bench: measures the library between pairs of processes. It starts them itself, or is one of them
// when a launcher has set RANK.
#include <parley/init.h>
#include <parley/launch.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string_view>

#include "bench/options.h"
#include "bench/rank_main.h"

namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

int run(const parley::bench::Options& options) {
  // For the ranks, and for the store that spawn() serves them.
  if (options.tls) ::setenv("PARLEY_TLS", "1", 1);
  const char* const rank = std::getenv("RANK");
  // Rank 0 writes them.
  const bool writes_rows = rank == nullptr || std::string_view(rank) == "0";
  if (writes_rows && !options.json_file.empty()) parley::bench::check_json_file(options.json_file);
  if (rank != nullptr) {
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
  try {
    const auto options = parley::bench::parse_options(argc, argv);
    return options ? run(*options) : 0;
  } catch (const parley::bench::CommandLineError& error) {
    std::cerr << "parley-bench: " << error.what() << "\nRun parley-bench --help for more.\n";
    return exit_usage;
  } catch (const std::exception& error) {
    std::cerr << "parley-bench: " << error.what() << '\n';
    return exit_failed;
  }
}
