#pragma once

#include <string>
#include <vector>

namespace parley::launch::testing {

// The programs under test, named by the build.
extern const std::string run_program;    // parley-run
extern const std::string probe_program;  // launch_probe

// parley-run -n RANKS [options] -- probe arguments...
std::vector<std::string> run_probe(int ranks, const std::vector<std::string>& arguments,
                                   const std::vector<std::string>& options = {});

}  // namespace parley::launch::testing
