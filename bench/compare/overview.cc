#include "bench/compare/overview.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "bench/compare/compare.h"
#include "bench/compare/compare_options.h"
#include "bench/compare/page.h"
#include "bench/cores.h"
#include "bench/sizes.h"

namespace parley::bench::compare {
namespace {

constexpr double overview_seconds = 110;
constexpr const char* page_name = "parley-bench.html";

Workload overview_workload() {
  CompareOptions options;
  options.ops = {"latency", "bandwidth"};
  options.ranks = {2};
  options.rewritten = {false};
  Workload workload;
  workload.contenders = contenders_of(options, own_program());
  workload.cases = cases_of(options);
  workload.seconds = overview_seconds;
  workload.cores = static_cast<int>(usable_cores().size());
  return workload;
}

// "0.112 us at 8 B, 48.5 us at 1 MiB"
std::string extremes_of(const CaseView& view) {
  const Figure kind = operation(view.where.op).figure;
  const auto figure_at = [&](const Line& line) {
    const Entry* const own = line.find(library_name);
    if (own == nullptr || !own->has_figures()) return std::string("not measured");
    return fmt::format("{} {} at {}", format_figure(figure_of(kind, line.bytes, own->median_us)),
                       kind == Figure::time ? "us" : unit_of(kind), spell_size(line.bytes));
  };
  return figure_at(*view.lines.front()) + ", " + figure_at(*view.lines.back());
}

// Where the user is, else where temporary files are.
std::string write_page(const std::string& page) {
  for (const std::filesystem::path& folder :
       {std::filesystem::current_path(), std::filesystem::temp_directory_path()}) {
    const std::filesystem::path path = folder / page_name;
    std::ofstream file(path, std::ios::trunc);
    if (file << page << std::flush) return path.string();
  }
  throw std::runtime_error("the page cannot be written, neither here nor in the folder of temporary files");
}

}  // namespace

std::string overview_text(const Study& study, const TerminalStyle& style) {
  std::string text;
  for (const CaseView& view : views_of(study)) {
    text += fmt::format("\n{}\n", title_of(view.where));
    if (!view.lines.empty()) {
      text += terminal_plot(view, style);
      text += "  Parley: " + extremes_of(view) + "\n";
    }
    for (const Against against : {Against::best_peer, Against::raw_limit}) {
      if (const auto verdict = verdict_text(view.lines, against)) text += "  " + *verdict + "\n";
    }
    for (const std::string& remark : remarks_of(view)) text += "  # " + remark + "\n";
  }
  return text;
}

int overview_main() {
  const Workload workload = overview_workload();
  const Budget budget = make_budget(workload);
  int signal = 0;
  Study study;
  {
    Progress progress(budget.seconds, false);
    progress.say(
        fmt::format("# Latency and bandwidth, two ranks, {} systems: about {}. parley-bench --help tells "
                    "what else there is.",
                    workload.contenders.size(), format_duration(budget.seconds)));
    study = conduct(workload, budget, true, progress, signal);
  }
  study.command = "parley-bench";
  if (study.lines.empty() && signal == 0) throw std::runtime_error("nothing could be measured: see above");
  fmt::print("{}", overview_text(study, terminal_style()));
  if (!study.lines.empty()) fmt::print("\nCharts and figures: {}\n", write_page(page_of(study)));
  return signal == 0 ? 0 : exit_signal + signal;
}

}  // namespace parley::bench::compare
