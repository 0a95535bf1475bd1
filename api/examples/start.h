#pragma once

#include <parley/parley.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

// Runs `rank_main` once in each of `world_size` processes, however this program was started:
//   build/bin/chain --world-size 4       no launcher: spawn() starts the processes
//   parley-run -n 4 build/bin/chain      this process is one rank of four already
// Returns what main() shall return.
inline int start(int world_size, void (*rank_main)(parley::ProcessGroup& world)) {
  const auto run = [rank_main](int, int) {
    parley::ProcessGroup world =
        parley::init();  // RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT tell it the rest
    rank_main(world);
    parley::destroy();
  };
  try {
    if (std::getenv("RANK") == nullptr) return parley::spawn(world_size, run, {.prefix_output = false});
    run(0, 0);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
