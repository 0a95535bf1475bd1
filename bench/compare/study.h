#pragma once

#include <string>
#include <vector>

#include "bench/compare/budget.h"
#include "bench/compare/driver.h"
#include "bench/compare/machine.h"
#include "bench/compare/outcome.h"

namespace parley::bench::compare {

// Everything that a comparison has found: what all reports are made of.
struct Study {
  std::string date;
  std::string command;                // as it was typed
  std::vector<std::string> children;  // their command lines in the first round, for each contender and case
  Facts machine;
  Facts versions;  // of the contenders that told one
  int cores = 2;
  int rounds = 0;             // that were begun
  bool is_shortened = false;  // launches of later ones: see adapt_budget()
  double seconds = 0;
  std::vector<Line> lines;
  std::vector<Note> notes;
};

// The lines of one case, and what its contenders could not do.
struct CaseView {
  Case where;
  std::vector<const Line*> lines;
  std::vector<const Note*> notes;
  std::vector<std::string> systems;  // that have a column, in order: each that gave a row in some line
};

// All cases in the order of tables. Borrows the study. Cases without lines, but with notes, come too.
std::vector<CaseView> views_of(const Study& study);

// What stands at a line beside its figures: "near", "MIXED", "DISTURBED".
std::string state_of(const Line& line);

// Half the distance between the extremes, as a part of the median.
double spread_of(const Entry& entry) noexcept;

// Sentences that a reader of the case needs: what is unsupported, failed, void or left out.
std::vector<std::string> remarks_of(const CaseView& view);

std::vector<const Line*> pointers_to(const std::vector<Line>& lines);

// Of all lines that have the ratio: how many, the middle one, and the worst with its place.
struct Verdict {
  int lines = 0;
  int faster = 0;  // the whole interval below 1
  int slower = 0;  // the whole interval above 1
  double median = 0;
  const Line* worst = nullptr;
};
enum class Against { best_peer, raw_limit };
const std::optional<Ratio>& ratio_of(const Line& line, Against against) noexcept;
Verdict verdict_of(const std::vector<const Line*>& lines, Against against);
// "faster than the best peer in 18 of 20 lines, slower in 1, ..."; nothing when there are no lines.
std::optional<std::string> verdict_text(const std::vector<const Line*>& lines, Against against);

}  // namespace parley::bench::compare
