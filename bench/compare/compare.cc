#include "bench/compare/compare.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "bench/compare/chart.h"
#include "bench/compare/compare_options.h"
#include "bench/compare/gate.h"
#include "bench/compare/manual.h"
#include "bench/compare/page.h"
#include "bench/compare/rows.h"
#include "bench/compare/summary.h"
#include "bench/compare/text_table.h"
#include "bench/cores.h"
#include "bench/options.h"
#include "bench/report_files.h"

namespace parley::bench::compare {
namespace {

constexpr int exit_failed = 1;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<Standing> standings_in(const std::string& name) {
  std::ifstream file(name);
  if (!file) throw CommandLineError("--compare: cannot read " + name);
  try {
    return read_standings({std::istreambuf_iterator<char>(file), {}});
  } catch (const std::runtime_error& error) {
    throw CommandLineError("--compare " + name + ": " + error.what());
  }
}

void check_reports(const CompareOptions& options) {
  if (!options.json_file.empty()) check_writable("--json", options.json_file);
  if (!options.csv_file.empty()) check_writable("--csv", options.csv_file);
  if (!options.html_file.empty()) check_writable("--html", options.html_file);
  if (!options.svg_folder.empty()) make_folder("--svg", options.svg_folder);
}

void write_reports(const CompareOptions& options, const Study& study) {
  if (!options.json_file.empty()) write_file(options.json_file, json_rows_of(study));
  if (!options.csv_file.empty()) write_file(options.csv_file, csv_of(study));
  if (!options.html_file.empty()) write_file(options.html_file, page_of(study));
  if (options.svg_folder.empty()) return;
  for (const CaseView& view : views_of(study)) {
    const std::string chart = standalone_chart_of(view);
    if (!chart.empty()) write_file(options.svg_folder + "/" + slug_of(view.where) + ".svg", chart);
  }
}

Workload workload_of(const CompareOptions& options) {
  Workload workload;
  workload.contenders = contenders_of(options, own_program());
  workload.cases = cases_of(options);
  workload.sizes = options.sizes;
  workload.seconds = 60 * options.minutes;
  workload.rounds = options.rounds;
  workload.cores = static_cast<int>(usable_cores().size());
  return workload;
}

void announce(const Workload& workload, const Budget& budget, const Progress& progress) {
  progress.say(fmt::format("# {}, {}, {}: about {}", counted(workload.contenders.size(), "system"),
                           counted(workload.cases.size(), "case"),
                           counted(static_cast<std::size_t>(budget.rounds), "round"),
                           format_duration(budget.seconds)));
  if (!budget.fits)
    progress.say(
        fmt::format("# That is more than the {} of --minutes; what begins later is left out. Fewer sizes, "
                    "operations, ranks or peers would fit.",
                    format_duration(workload.seconds)));
}

// What the verdicts say, and whether they let the run pass.
bool passes(const CompareOptions& options, const Study& study, const std::vector<Standing>& before) {
  bool is_good = true;
  if (!options.base_file.empty()) {
    const Judgement judgement = judge_change(standings_of(study.lines), before, options.tolerance);
    fmt::print("\n{}", judgement_text(judgement, options.tolerance));
    is_good = judgement.slower.empty() && !says_nothing(judgement);
  }
  if (!options.at_most) return is_good;
  const LimitJudgement judgement = judge_limit(study.lines, *options.at_most);
  fmt::print("\n{}", judgement_text(judgement, *options.at_most));
  return is_good && judgement.beyond.empty() && !says_nothing(judgement);
}

bool has_library(const Study& study) {
  for (const Line& line : study.lines) {
    const Entry* const own = line.find(library_name);
    if (own != nullptr && own->has_figures()) return true;
  }
  return false;
}

}  // namespace

std::string own_program() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

Study conduct(const Workload& workload, const Budget& budget, bool raw, Progress& progress, int& signal) {
  Study study;
  study.date = current_date();
  study.cores = workload.cores;
  study.machine = describe_machine();
  study.versions = describe_versions(workload.contenders);
  Harvest harvest = run_launches(workload, budget, progress);
  signal = harvest.signal;
  study.rounds = harvest.rounds;
  study.is_shortened = harvest.is_shortened;
  study.seconds = harvest.seconds;
  study.notes = std::move(harvest.notes);
  if (harvest.left_out > 0)
    progress.say(fmt::format("# No time was left for {}",
                             counted(static_cast<std::size_t>(harvest.left_out), "launch", "launches")));
  Judging judging{workload.cores, raw, {}};
  for (const Contender& contender : workload.contenders) judging.order.push_back(contender.name);
  study.lines = judge_samples(harvest.samples, judging);
  for (const Case& where : workload.cases) {
    for (const Contender& contender : workload.contenders)
      study.children.push_back(
          joined(command_of(contender, where, sizes_of(where, workload.sizes), budget, "rows.jsonl")));
  }
  return study;
}

int compare_main(const std::vector<std::string>& arguments) {
  const auto options = parse_compare_options(arguments);
  if (!options) {
    fmt::print("{}", compare_manual());
    return 0;
  }
  const Workload workload = workload_of(*options);
  check_reports(*options);
  std::vector<Standing> before;
  if (!options->base_file.empty()) before = standings_in(options->base_file);
  const Budget budget = make_budget(workload);
  int signal = 0;
  Study study;
  {
    Progress progress(budget.seconds, options->quiet);
    announce(workload, budget, progress);
    study = conduct(workload, budget, options->raw, progress, signal);
  }
  study.command = command_text("parley-bench compare", arguments);
  if (!options->quiet) fmt::print("{}{}", tables_of(study), summary_of(study));
  write_reports(*options, study);
  if (signal != 0) return exit_signal + signal;
  if (!has_library(study)) throw std::runtime_error("Parley could not be measured: see above");
  return passes(*options, study, before) ? 0 : exit_failed;
}

}  // namespace parley::bench::compare
