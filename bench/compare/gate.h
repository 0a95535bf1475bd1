#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/compare/outcome.h"

namespace parley::bench::compare {

// What an earlier run knew of the library, or the present one knows.
struct Standing {
  Case where;
  std::size_t bytes = 0;
  std::vector<double> us;              // one for each round
  std::vector<double> limit_times;     // over the limit of the same launch; fewer where there was none
  std::vector<double> limit_probe_ns;  // of each of those
  std::optional<Mode> mode;
  bool disturbed = false;
};

std::vector<Standing> standings_of(const std::vector<Line>& lines);

// Reads those back from json_rows_of(); for a line that comes twice the last one holds. Throws
// std::runtime_error, in words, when nothing in the file is of use.
std::vector<Standing> read_standings(const std::string& text);

// One line in which the two runs were held against each other.
struct Change {
  Case where;
  std::size_t bytes = 0;
  Ratio times;  // of the present run over the earlier one: above 1 is slower
  bool relative_to_limit = false;
};

struct Judgement {
  std::vector<Change> compared;
  std::vector<Change> slower;  // of these: the worst first
  std::vector<Change> faster;
  int not_comparable = 0;  // in both runs, but not in one state
  int missing = 0;         // of the earlier run's lines
};

// A line is slower when all of its 95 % interval lies above 1 + tolerance, and faster when all of it lies
// below 1 / (1 + tolerance).
//
// Machines drift, so where both runs have a limit the figures are times over the limit of the same launch:
// what slows both is no regression of the library. But the library is not as many times slower than its limit
// between near cores as between far ones, so only launches that met the cores in one place are compared, of
// the place that both runs met most. Without a limit the figures are microseconds, and compared only if both
// runs met the cores in one and the same place; with more ranks than cores, where that is not known, all are
// compared as they are. Disturbed lines, and those with fewer than three rounds, are not comparable.
Judgement judge_change(const std::vector<Standing>& now, const std::vector<Standing>& before,
                       double tolerance);

// Not one line was compared: such a verdict must not pass, whatever the reason.
bool says_nothing(const Judgement& judgement);

// What got slower and by how much, what got faster, how many were compared.
std::string judgement_text(const Judgement& judgement, double tolerance);

// The library held against its limit.
struct LimitJudgement {
  std::size_t held = 0;           // lines that were held against it
  std::size_t disturbed = 0;      // lines that say nothing, because something else used the cores
  std::size_t without_limit = 0;  // others that say nothing: less than three rounds with a limit
  std::vector<std::string>
      beyond;  // of `held`, in words: all of the interval of time over limit is above `times`
};
LimitJudgement judge_limit(const std::vector<Line>& lines, double times);

// No line was held against a limit, and that is not the machine's fault: such a verdict must not pass.
bool says_nothing(const LimitJudgement& judgement);

// What lies beyond, and how many lines were held against the limit.
std::string judgement_text(const LimitJudgement& judgement, double times);

}  // namespace parley::bench::compare
