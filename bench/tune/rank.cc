#include "bench/tune/rank.h"

#include <fmt/format.h>
#include <parley/init.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/compare/progress.h"
#include "bench/cores.h"
#include "bench/sizes.h"
#include "bench/tune/algorithm_library.h"

namespace parley::bench::tune {
namespace {

// An algorithm that took so many times as long as the quickest one in its trial goes no further.
constexpr double most_times = 4;

// For the first guess at how long it lasts.
constexpr double usual_algorithms = 6;

std::vector<std::size_t> sizes_of(const TuneOptions& options, Op op) {
  return op == Op::barrier ? std::vector<std::size_t>{0} : options.sizes;
}

schedule::TuningCase case_of(const TuneOptions& options, Op op, int ranks, bool shares_cores,
                             std::size_t bytes) {
  return {.operation = *schedule::find_operation(to_string(op)),
          .ranks = static_cast<std::uint32_t>(ranks),
          .link = options.transport == "shm" ? schedule::Link::shared_memory : schedule::Link::tcp,
          .shares_cores = shares_cores,
          .bytes = bytes};
}

void show(const TuneOptions& options, Course& course, const Finding& finding) {
  ++course.done;
  if (options.quiet) return;
  const auto all = static_cast<double>(course.all);
  const double part = static_cast<double>(course.done) / all;
  const double planned_s = all * usual_algorithms * options.rounds * options.round_ms / 1000;
  const double left_s = compare::remaining_seconds(planned_s, part, course.watch.elapsed_us() / 1e6);
  std::string text = fmt::format("[{:>3.0f} %] {} left  {} of {}, {} ranks: {} {:.2f} us", 100 * part,
                                 compare::format_duration(left_s), name(finding.where.operation),
                                 spell_size(finding.where.bytes), finding.where.ranks,
                                 name(finding.predicted), finding.predicted_us);
  if (finding.chosen != finding.predicted)
    text += fmt::format(", {} {:.2f} us", name(finding.chosen), finding.chosen_us);
  fmt::print(stderr, "{}\n", text);
}

}  // namespace

std::size_t count_cases(const TuneOptions& options) {
  std::size_t count = 0;
  for (const Op op : options.ops) count += sizes_of(options, op).size();
  return count;
}

void rank_main(const TuneOptions& options, Course course, std::span<Finding> findings) {
  // Before init(): the library's own thread belongs on its rank's core as well.
  const std::vector<int> cores = usable_cores();
  const auto ranks = static_cast<std::size_t>(std::atoi(std::getenv("WORLD_SIZE")));
  const bool enough_cores = ranks <= cores.size();
  pin_to(core_for(std::atoi(std::getenv("RANK")), cores));
  ::setenv("PARLEY_TRANSPORTS", options.transport.c_str(), 1);
  // What they say would be taken for the model's choice.
  for (const char* variable : {"PARLEY_ALGO", "PARLEY_TUNING"}) ::unsetenv(variable);
  ProcessGroup world = init();
  {
    AlgorithmLibrary library(world);
    std::size_t next = 0;
    for (const Op op : options.ops) {
      Measurement measurement;
      measurement.op = op;
      measurement.transport = options.transport;
      measurement.rewrite = enough_cores;  // see README.md
      measurement.rounds = options.rounds;
      measurement.round_ms = options.round_ms;
      LibrarySession session(library, measurement, enough_cores ? Idle::spin : Idle::yield);
      for (const std::size_t bytes : sizes_of(options, op)) {
        const std::optional<Contest> contest = session.contest(bytes, most_times);
        if (!contest) continue;
        Finding& finding = findings[next++];
        finding = finding_of(case_of(options, op, world.size(), !enough_cores, bytes), *contest);
        show(options, course, finding);
      }
    }
  }
  destroy();
}

}  // namespace parley::bench::tune
