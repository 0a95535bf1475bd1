#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/multiprocess/hosts/two_hosts.h"
#include "tests/multiprocess/launch/command.h"

namespace parley::testing {

// The programs under test, named by the build.
extern const std::string run_program;    // parley-run
extern const std::string probe_program;  // launch_probe
extern const std::string chain_program;  // the example

struct PairOptions {
  std::string rendezvous = "10.7.0.1:29500";  // an address of host-a
  std::string rendezvous_of_b = {};           // as host-b writes it; empty: the same
  int ranks_of_a = 2;
  int ranks_of_b = 2;
  std::vector<std::string> options = {};              // for both launchers,
  std::vector<std::string> options_of_b = {};         // for that of host-b, after them
  std::map<std::string, std::string> variables = {};  // of both launchers
  std::map<std::string, std::string> variables_of_b = {};
};

// parley-run as node 0 on host-a and as node 1 on host-b, with a secret of their own.
struct NodePair {
  NodePair(const TwoHosts& hosts, const std::vector<std::string>& program, const PairOptions& options = {});
  launch::testing::Command a;
  launch::testing::Command b;

  // Waits for both; what they said, for a failed assertion.
  struct End {
    int a = 0;
    int b = 0;
    std::string said;
  };
  End finish();
};

}  // namespace parley::testing
