#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/compare/operation.h"

namespace parley::bench::compare {

// A program that is measured: started as a child, once for each case and round, with the arguments of
// command_of().
struct Contender {
  std::string name;     // "parley", "openmpi": the system of its rows, where they do not say otherwise
  std::string program;  // a path
};

// The sizes of a case: those that were wanted; else the operation's usual ones, eightfold from 8 B.
std::vector<std::size_t> sizes_of(const Case& where, const std::vector<std::size_t>& wanted);

// What is to be measured, and within which time.
struct Workload {
  std::vector<Contender> contenders;
  std::vector<Case> cases;
  std::vector<std::size_t> sizes;  // empty: the usual ones
  double seconds = 0;
  std::optional<int> rounds;  // not given: as many as fit
  int cores = 2;
};

// How that is spread over the time. In each round every contender is launched once for every case; a launch
// measures each size in `launch_rounds` short rounds of its own.
struct Budget {
  int rounds = 0;
  int launch_rounds = 0;
  double round_ms = 0;
  double seconds = 0;  // about what it takes
  bool fits = false;
};

// Fewer rounds than this give intervals that are too narrow; more than the most add little.
inline constexpr int least_rounds = 3;
inline constexpr int wanted_rounds = 7;
inline constexpr int most_rounds = 15;

// The longest launches that leave room for the wanted rounds; else, for fewer rounds; else the shortest
// ones, which do not fit. Depends on its argument alone.
Budget make_budget(const Workload& workload);

// What has been done of a budget.
struct Spent {
  int rounds = 0;
  double seconds = 0;
  double pace = 1;  // what launches have taken, over what they were thought to take
};

// The budget of the next rounds, if launches go on at that pace: as long as were planned, or as leave room
// for all rounds; else the shortest ones. A little that is left out at the end changes nothing. Depends on
// its arguments alone.
Budget adapt_budget(const Workload& workload, const Budget& planned, const Spent& spent);

// About how long one launch takes: starting and ending the processes, then each size.
double launch_seconds(const Contender& contender, const Case& where, std::span<const std::size_t> sizes,
                      int launch_rounds, double round_ms, int cores);

// The child's command line: PROGRAM OP --ranks N --transport T --sizes LIST --rounds R --round-ms MS --json
// FILE
// [--rewrite] [--arena]. The last one only to builds of parley-bench.
std::vector<std::string> command_of(const Contender& contender, const Case& where,
                                    std::span<const std::size_t> sizes, const Budget& budget,
                                    const std::string& json_file);

// One launch: places in the workload's lists.
struct Launch {
  int round = 0;
  std::size_t where = 0;
  std::size_t contender = 0;
};

// All launches in their order: round after round, in it case after case, and for each case all contenders one
// after the other, so that they meet the machine within seconds of each other; another one first each round.
std::vector<Launch> order_launches(std::size_t contenders, std::size_t cases, int rounds);

}  // namespace parley::bench::compare
