#include "bench/scale/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "bench/command_line.h"
#include "bench/compare/progress.h"
#include "bench/cores.h"
#include "bench/report_files.h"
#include "bench/scale/chart.h"
#include "bench/scale/growth_plot.h"
#include "bench/scale/launch.h"
#include "bench/scale/page.h"
#include "bench/scale/promise.h"
#include "bench/scale/report.h"
#include "bench/scale/scale_options.h"
#include "bench/statistics.h"

namespace parley::bench::scale {
namespace {

// For the first guess at how long it lasts: a world, and a rank of it.
constexpr double world_seconds = 0.4;
constexpr double rank_seconds = 0.01;

// Measures everything in rounds, and remembers each figure of each round.
class Survey {
 public:
  explicit Survey(const ScaleOptions& options) : options_(options), progress_(all_seconds(), options.quiet) {}

  Figures run() {
    // First, for ranks are forks of this process, and count what they write to pages that it has used.
    measure_those([](Stage stage) { return is_of_memory(stage); });
    measure_those([](Stage stage) { return !is_of_memory(stage); });
    Figures figures;
    for (const auto& [quantity, all] : samples_)
      for (const auto& [ranks, values] : all) figures[quantity][ranks] = median(values);
    return figures;
  }
  // Why Open MPI was not measured, or not to the end.
  [[nodiscard]] const std::string& remark() const noexcept { return remark_; }

 private:
  [[nodiscard]] double all_seconds() const {
    double sum = 0;
    for (const int ranks : options_.ranks) sum += seconds_of(ranks);
    return sum * static_cast<double>(options_.stages.size()) * options_.rounds;
  }
  static bool is_of_memory(Stage stage) { return stage == Stage::memory || stage == Stage::linked; }

  void measure_those(bool (*are)(Stage)) {
    for (int round = 0; round < options_.rounds; ++round)
      for (const int ranks : options_.ranks)
        for (const Stage stage : options_.stages)
          if (are(stage)) measure(round, ranks, stage);
  }

  static double seconds_of(int ranks) { return world_seconds + rank_seconds * ranks; }

  void measure(int round, int ranks, Stage stage) {
    progress_.show(fmt::format("round {} of {}, {} ranks", round + 1, options_.rounds, ranks),
                   done_seconds_ / all_seconds());
    for (const auto& [quantity, value] : measure_world(stage, ranks, options_.transport))
      samples_[quantity][ranks].push_back(value);
    if (stage == Stage::start) measure_openmpi(ranks);
    done_seconds_ += seconds_of(ranks);
  }
  void measure_openmpi(int ranks) {
    if (!remark_.empty()) return;
    if (const auto ms = measure_openmpi_start(ranks, remark_))
      samples_[Quantity::openmpi_start][ranks].push_back(*ms);
  }

  const ScaleOptions& options_;
  compare::Progress progress_;
  double done_seconds_ = 0;
  std::map<Quantity, std::map<int, std::vector<double>>> samples_;
  std::string remark_;
};

void write_reports(const ScaleOptions& options, const Figures& figures, const Setting& setting) {
  if (!options.json_file.empty()) append_to_file(options.json_file, rows_of(options, figures));
  if (!options.html_file.empty()) write_file(options.html_file, page_of(options, figures, setting));
  if (options.svg_folder.empty()) return;
  for (const Panel& panel : panels())
    if (has_figures(panel, figures))
      write_file(fmt::format("{}/{}.svg", options.svg_folder, panel.slug),
                 standalone_chart_of(panel, figures));
}

}  // namespace

int scale_main(const std::vector<std::string>& arguments) {
  const auto options = parse_scale_options(arguments);
  if (!options) {
    fmt::print("{}", scale_manual());
    return 0;
  }
  if (std::getenv("RANK") != nullptr)
    throw CommandLineError("scale starts its ranks itself: unset RANK, and start it without a launcher");
  Survey survey(*options);
  const Figures figures = survey.run();
  const Setting setting{command_text("parley-bench scale", arguments),
                        static_cast<int>(usable_cores().size()), survey.remark()};
  fmt::print("# parley-bench scale, transport {}, {} cores, {} rounds\n{}", options->transport, setting.cores,
             options->rounds, table_of(*options, figures));
  if (!setting.remark.empty()) fmt::print("# {}\n", setting.remark);
  fmt::print("\n{}\n{}\n{}", growth_plot(figures), laws_of(figures), verdicts_of(figures));
  write_reports(*options, figures, setting);
  return breaches_of(figures).empty() ? 0 : 1;
}

}  // namespace parley::bench::scale
