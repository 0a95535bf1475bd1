#pragma once

#include <string>
#include <vector>

#include "tests/multiprocess/launch/command.h"

// The programs of the build, named by CMake.
#ifndef PARLEY_RUN_PROGRAM
#error "the build names the programs under test"
#endif

namespace parley::launch::testing {

inline const std::string run_program = PARLEY_RUN_PROGRAM;
inline const std::string probe_program = PARLEY_PROBE_PROGRAM;

// parley-run -n RANKS [options] -- probe arguments...
inline std::vector<std::string> run_probe(int ranks, const std::vector<std::string>& arguments,
                                          const std::vector<std::string>& options = {}) {
  std::vector<std::string> words{run_program, "-n", std::to_string(ranks)};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", probe_program});
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

}  // namespace parley::launch::testing
