#pragma once

#include <string>
#include <vector>

#include "bench/compare/budget.h"
#include "bench/compare/progress.h"
#include "bench/compare/sample.h"

namespace parley::bench::compare {

// What a contender could not do.
struct Note {
  std::string contender;
  Case where;
  std::string text;             // its last words
  bool is_unsupported = false;  // it does not do that at all; else it failed
  int times = 1;
};

// What the launches gave.
struct Harvest {
  std::vector<Sample> samples;
  std::vector<Note> notes;
  int rounds = 0;             // that were begun
  bool is_shortened = false;  // launches of later ones: see adapt_budget()
  double seconds = 0;
  int signal = 0;    // that ended it early; 0: none
  int left_out = 0;  // launches for which there was no time
};

// Launches all contenders by the budget and gathers their rows. A contender that exits with 2 cannot do the
// case, and one that is too late, or has failed in it twice, is not asked again; the others go on. No launch
// begins after `workload.seconds`. Ends early, with what it has, when the program is told to end. Throws
// std::system_error when the machine has no more pipes, processes or room for files.
Harvest run_launches(const Workload& workload, const Budget& budget, Progress& progress);

}  // namespace parley::bench::compare
