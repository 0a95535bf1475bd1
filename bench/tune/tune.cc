#include "bench/tune/tune.h"

#include <fmt/format.h>
#include <parley/launch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <type_traits>

#include "bench/command_line.h"
#include "bench/report_files.h"
#include "bench/shared_memory.h"
#include "bench/tune/rank.h"
#include "bench/tune/report.h"

namespace parley::bench::tune {
namespace {

// What the ranks have found, where their parent sees it.
class Board {
 public:
  static_assert(std::is_trivially_copyable_v<Finding>, "processes share it");
  explicit Board(std::size_t count)
      : memory_(SharedMemory::create(std::max<std::size_t>(count, 1) * sizeof(Finding))),
        findings_(static_cast<Finding*>(memory_.data()), count) {
    std::uninitialized_default_construct(findings_.begin(), findings_.end());
  }
  [[nodiscard]] std::span<Finding> findings() const noexcept { return findings_; }

 private:
  SharedMemory memory_;
  std::span<Finding> findings_;
};

}  // namespace

int tune_main(const std::vector<std::string>& arguments) {
  const auto options = parse_tune_options(arguments);
  if (!options) {
    fmt::print("{}", tune_manual());
    return 0;
  }
  if (std::getenv("RANK") != nullptr)
    throw CommandLineError("tune starts its ranks itself: unset RANK, and start it without a launcher");
  if (!options->output.empty()) check_writable("--output", options->output);
  const std::size_t cases = count_cases(*options);
  Course course{0, cases * options->ranks.size(), {}};
  SpawnOptions spawn_options;
  spawn_options.prefix_output = false;
  std::vector<Finding> findings;
  for (const int ranks : options->ranks) {
    const Board board(cases);
    const int code = spawn(
        ranks, [&](int, int) { rank_main(*options, course, board.findings()); }, spawn_options);
    if (code != 0) return code;
    findings.insert(findings.end(), board.findings().begin(), board.findings().end());
    course.done += cases;
  }
  const std::string table = schedule::format_tuning(
      tuning_of(findings), remarks_on(*options, command_text("parley-bench tune", arguments), findings));
  if (options->output.empty())
    fmt::print("{}", table);
  else
    write_file(options->output, table);
  if (!options->quiet) fmt::print(options->output.empty() ? stderr : stdout, "{}", summary_of(findings));
  return 0;
}

}  // namespace parley::bench::tune
