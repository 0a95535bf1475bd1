#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/compare/budget.h"

namespace parley::bench::compare {

// The command line of `parley-bench compare`.
struct CompareOptions {
  std::vector<std::string> ops{"latency", "bandwidth", "bidirectional", "message-rate"};
  std::vector<int> ranks{2};
  std::vector<std::string> transports{"shm", "tcp"};
  std::vector<bool> rewritten{false, true};
  bool arena = false;              // over shared memory Parley's buffers lie in its arena
  std::vector<std::size_t> sizes;  // empty: the usual ones
  // Of those built beside parley-bench; nothing: all that are there.
  std::optional<std::vector<std::string>> peers;
  bool raw = true;                                            // the limit has a column
  std::vector<std::pair<std::string, std::string>> programs;  // further peers: name, program
  std::string parley;                                         // what is measured; empty: this program
  std::optional<int> rounds;
  double minutes = 14;
  std::string json_file;
  std::string csv_file;
  std::string html_file;
  std::string svg_folder;
  std::string base_file;          // an earlier run's rows to compare with
  double tolerance = 0.1;         // by how much a line may be slower
  std::optional<double> at_most;  // times the limit
  bool quiet = false;
};

// What stands before an option's name on the command line, "--ops": for the manual page's test.
std::vector<std::string> compare_option_names();

// `arguments` are the words after "compare". Nothing when help was asked for. Throws CommandLineError.
std::optional<CompareOptions> parse_compare_options(const std::vector<std::string>& arguments);

// The programs to launch, Parley first: `own_program` unless another one is named; peers stand beside it as
// peer-NAME. Throws CommandLineError when one that was asked for is not there, and when two have one
// name.
std::vector<Contender> contenders_of(const CompareOptions& options, const std::string& own_program);

// What is measured, operation by operation: each for all transports, ranks and kinds of buffers.
std::vector<Case> cases_of(const CompareOptions& options);

}  // namespace parley::bench::compare
