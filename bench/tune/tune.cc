#include "bench/tune/tune.h"

#include <fmt/format.h>
#include <parley/launch.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <type_traits>

#include "bench/command_line.h"
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

// A wrong name is known before anything is measured.
void check_output(const std::string& name) {
  if (name.empty()) return;
  errno = 0;
  if (const std::ofstream file(name, std::ios::app); file) return;
  throw CommandLineError("--output: cannot write " + name + ": " + std::generic_category().message(errno));
}

void write_table(const std::string& name, const std::string& text) {
  if (name.empty()) {
    fmt::print("{}", text);
    return;
  }
  std::ofstream file(name, std::ios::trunc);
  file << text << std::flush;
  if (!file) throw std::runtime_error("writing " + name + " failed (is the disk full?)");
}

std::string command_of(const std::vector<std::string>& arguments) {
  std::string text = "parley-bench tune";
  for (const std::string& word : arguments) text += ' ' + word;
  return text;
}

}  // namespace

int tune_main(const std::vector<std::string>& arguments) {
  const auto options = parse_tune_options(arguments);
  if (!options) {
    fmt::print("{}", tune_manual());
    return 0;
  }
  if (std::getenv("RANK") != nullptr)
    throw CommandLineError("tune starts its ranks itself: unset RANK, and start it without a launcher");
  check_output(options->output);
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
  write_table(
      options->output,
      schedule::format_tuning(tuning_of(findings), remarks_on(*options, command_of(arguments), findings)));
  if (!options->quiet) fmt::print(options->output.empty() ? stderr : stdout, "{}", summary_of(findings));
  return 0;
}

}  // namespace parley::bench::tune
