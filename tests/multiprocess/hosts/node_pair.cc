#include "tests/multiprocess/hosts/node_pair.h"

namespace parley::testing {
namespace {

using launch::testing::CommandOptions;

std::vector<std::string> command_of(int node, const std::vector<std::string>& program,
                                    const PairOptions& options) {
  const bool is_b = node == 1;
  const bool own_rendezvous = is_b && !options.rendezvous_of_b.empty();
  std::vector<std::string> words{run_program,
                                 "--nnodes",
                                 "2",
                                 "--node-rank",
                                 std::to_string(node),
                                 "--rendezvous",
                                 own_rendezvous ? options.rendezvous_of_b : options.rendezvous,
                                 "-n",
                                 std::to_string(is_b ? options.ranks_of_b : options.ranks_of_a)};
  words.insert(words.end(), options.options.begin(), options.options.end());
  if (is_b) words.insert(words.end(), options.options_of_b.begin(), options.options_of_b.end());
  words.emplace_back("--");
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

CommandOptions surroundings(const std::map<std::string, std::string>& variables,
                            const std::map<std::string, std::string>& more = {}) {
  CommandOptions options;
  options.environment = {{"PARLEY_SECRET", "what both nodes of this test know"},
                         {"PARLEY_INIT_TIMEOUT", "60s"}};
  for (const auto& [name, value] : variables) options.environment[name] = value;
  for (const auto& [name, value] : more) options.environment[name] = value;
  return options;
}

}  // namespace

const std::string run_program = PARLEY_RUN_PROGRAM;
const std::string probe_program = PARLEY_PROBE_PROGRAM;
const std::string chain_program = PARLEY_CHAIN_PROGRAM;

NodePair::NodePair(const TwoHosts& hosts, const std::vector<std::string>& program, const PairOptions& options)
    : a(hosts.a.on(command_of(0, program, options)), surroundings(options.variables)),
      b(hosts.b.on(command_of(1, program, options)),
        surroundings(options.variables, options.variables_of_b)) {}

NodePair::End NodePair::finish() {
  End end;
  end.a = a.finish();
  end.b = b.finish();
  end.said = "host-a wrote:\n" + a.output() + a.errors() + "host-b wrote:\n" + b.output() + b.errors();
  return end;
}

}  // namespace parley::testing
