#include "tests/multiprocess/support/ranks.h"

#include <unistd.h>

#include <csignal>

#include "tests/sanitizer.h"

namespace parley::testing {

int slowness() {
  return sanitizer::is_on ? 4 : 1;
}

int run_ranks(int count, const std::function<void(int, int)>& rank_main, const RanksOptions& options) {
  SpawnOptions spawn_options;
  spawn_options.timeout = options.timeout * slowness();
  spawn_options.environment = options.environment;
  return spawn(count, rank_main, spawn_options);
}

void die() {
  kill(getpid(), SIGKILL);
  _exit(1);  // not reached
}

}  // namespace parley::testing
