#include "api/examples/start.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace {

// Ranks of a host share its GPUs in turn. Where there is none, the first tensor says why.
parley::Device device_for(const Options& options, const parley::ProcessGroup& world) {
  if (options.device == "cpu") return {};
  return {parley::Device::cuda, world.local_rank() % std::max(parley::device_count(), 1)};
}

}  // namespace

std::optional<int> read_options(Options& options, int argc, char** argv, const char* description,
                                const std::vector<Flag>& flags) {
  CLI::App app(description);
  app.add_option("--world-size", options.world_size, "Number of processes, without parley-run")
      ->capture_default_str();
  app.add_option("--device", options.device, "Where tensors lie")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  for (const Flag& flag : flags) app.add_flag(flag.name, flag.given, flag.meaning);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  return std::nullopt;
}

int start(const Options& options, void (*rank_main)(parley::ProcessGroup& world, parley::Device device)) {
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
