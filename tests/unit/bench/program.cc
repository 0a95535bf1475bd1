#include "tests/unit/bench/program.h"

#include <sys/wait.h>

#include <cstdlib>

namespace parley::bench {

int run_bench(const std::string& arguments, const std::string& environment) {
  const std::string clean = "env -u RANK -u WORLD_SIZE ";
  const int status =
      std::system((clean + environment + " " + PARLEY_BENCH_PROGRAM + " " + arguments).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace parley::bench
