// parley-bench: measures the library between pairs of processes. It starts them itself, or is one of them
// when a launcher has set RANK. `compare`, and no words at all, start further programs and measure those;
// `tune` writes a table for the library; `scale` measures more and more ranks.
#include <fmt/format.h>
#include <parley/init.h>
#include <parley/launch.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/compare/compare.h"
#include "bench/compare/manual.h"
#include "bench/compare/overview.h"
#include "bench/devices/presence.h"
#include "bench/options.h"
#include "bench/rank_main.h"
#include "bench/report_files.h"
#include "bench/scale/scale.h"
#include "bench/tune/tune.h"
#include "bench/two_transports.h"

namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

int run(const parley::bench::Options& options) {
  // For the ranks, and for the store that spawn() serves them.
  if (options.tls) ::setenv("PARLEY_TLS", "1", 1);
  const char* const rank = std::getenv("RANK");
  // Rank 0 writes them.
  const bool writes_rows = rank == nullptr || std::string_view(rank) == "0";
  if (writes_rows && !options.json_file.empty()) parley::bench::check_writable("--json", options.json_file);
  if (options.two_transports && rank != nullptr)
    throw parley::bench::CommandLineError(
        "--transport shm,tcp starts its ranks itself: leave the launcher out");
  if (options.two_transports) return parley::bench::measure_two_transports(options);
  if (rank != nullptr) {
    parley::bench::rank_main(options);
    return 0;
  }
  if (options.devices.has_device()) {
    const std::string reason = parley::bench::reason_against_devices();
    if (!reason.empty()) throw parley::bench::CommandLineError("--device cuda: " + reason);
  }
  parley::SpawnOptions spawn_options;
  spawn_options.prefix_output = false;
  return parley::spawn(
      options.ranks.value_or(2), [&](int, int) { parley::bench::rank_main(options); }, spawn_options);
}

int run(const std::vector<std::string>& words) {
  // A rank of a launcher's is told what to measure.
  if (words.empty() && std::getenv("RANK") == nullptr) return parley::bench::compare::overview_main();
  if (!words.empty() && (words.front() == "--help" || words.front() == "-h")) {
    fmt::print("{}", parley::bench::compare::bench_manual());
    return 0;
  }
  if (!words.empty() && words.front() == "--version") {
    fmt::print("parley-bench {}\n", PARLEY_VERSION);
    return 0;
  }
  if (!words.empty() && words.front() == "compare")
    return parley::bench::compare::compare_main({words.begin() + 1, words.end()});
  if (!words.empty() && words.front() == "scale")
    return parley::bench::scale::scale_main({words.begin() + 1, words.end()});
  if (!words.empty() && words.front() == "tune")
    return parley::bench::tune::tune_main({words.begin() + 1, words.end()});
  std::vector<const char*> arguments{"parley-bench"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const auto options = parley::bench::parse_options(static_cast<int>(arguments.size()), arguments.data());
  return options ? run(*options) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const parley::bench::CommandLineError& error) {
    std::cerr << "parley-bench: " << error.what() << "\nRun parley-bench --help for more.\n";
    return exit_usage;
  } catch (const std::exception& error) {
    std::cerr << "parley-bench: " << error.what() << '\n';
    return exit_failed;
  }
}
