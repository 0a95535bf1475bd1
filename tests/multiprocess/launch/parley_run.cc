#include "tests/multiprocess/launch/parley_run.h"

namespace parley::launch::testing {

const std::string run_program = PARLEY_RUN_PROGRAM;
const std::string probe_program = PARLEY_PROBE_PROGRAM;

std::vector<std::string> run_probe(int ranks, const std::vector<std::string>& arguments,
                                   const std::vector<std::string>& options) {
  std::vector<std::string> words{run_program, "-n", std::to_string(ranks)};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", probe_program});
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

}  // namespace parley::launch::testing
