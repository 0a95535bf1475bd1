#include "bench/rank_main.h"

#include <fmt/format.h>
#include <parley/init.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "bench/cores.h"
#include "bench/session.h"
#include "bench/table.h"

namespace parley::bench {
namespace {

// A number that the launcher has set.
int launched(const char* variable) {
  const char* const word = std::getenv(variable);
  if (word == nullptr) {
    throw CommandLineError(std::string("RANK is set, but ") + variable +
                           " is not: start parley-bench with a launcher that sets both, or unset RANK");
  }
  const std::string_view text(word);
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && rest == text.data() + text.size() && number >= 0) return number;
  throw CommandLineError(std::string(variable) + "=" + word + " is not a number: a launcher sets it; unset " +
                         "RANK and parley-bench starts the ranks itself");
}

// Of a launcher's world; --ranks may repeat its size.
void check_world(const Options& options, int ranks) {
  check_ranks(ranks);
  if (options.ranks.value_or(ranks) == ranks) return;
  throw CommandLineError("--ranks " + std::to_string(*options.ranks) + ", but the launcher has started " +
                         std::to_string(ranks) + " ranks (WORLD_SIZE): leave --ranks out");
}

// Where rank 0 puts its rows.
class Report {
 public:
  explicit Report(const Options& options) {
    if (options.json_file.empty()) return;
    json_.open(options.json_file, std::ios::app);
    if (!json_) throw std::runtime_error("cannot write to " + options.json_file);
  }
  void print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
  void add(const Figures& figures) {
    print(table_line(figures.parley, figures.raw) + disturbance_note(figures.parley, figures.raw));
    if (!json_.is_open()) return;
    json_ << to_json(figures.parley) << '\n' << to_json(figures.raw) << '\n' << std::flush;
    if (!json_) throw std::runtime_error("writing the JSON rows failed (is the disk full?)");
  }

 private:
  std::ofstream json_;
};

std::string title(const Options& options, int ranks, const std::string& pinning) {
  return fmt::format("# parley-bench {}, transport {}, {} ranks, {} rounds; {}\n", to_string(options.op),
                     options.transport, ranks, options.rounds, pinning);
}

}  // namespace

void rank_main(const Options& options) {
  const int rank = launched("RANK");
  const int ranks = launched("WORLD_SIZE");
  check_world(options, ranks);

  // Before init(): the library's own thread belongs on its rank's core as well.
  const std::vector<int> cores = usable_cores();
  const bool enough_cores = static_cast<std::size_t>(ranks) <= cores.size();
  const bool pin = options.pin.value_or(enough_cores);
  if (pin) pin_to(core_for(rank, cores));

  std::optional<Report> report;
  if (rank == 0) report.emplace(options);
  ProcessGroup world = init();
  Session session(world, options, enough_cores ? Idle::spin : Idle::yield);
  if (report) {
    report->print(title(options, ranks, pin ? describe_pinning(ranks, cores) : "not pinned") +
                  table_header(options.op));
  }
  for (const std::size_t bytes : options.sizes) {
    const std::optional<Figures> figures = session.measure(bytes);
    if (report) report->add(*figures);
  }
  destroy();
}

}  // namespace parley::bench
