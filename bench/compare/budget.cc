#include "bench/compare/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/compare/sample.h"
#include "bench/sizes.h"

namespace parley::bench::compare {
namespace {

// Launch rounds and their milliseconds, from generous to scant. Launches differ more from each other than
// rounds within one; but in the first milliseconds of a size a process does what it does once only: pages
// are mapped, windows made.
struct Effort {
  int launch_rounds;
  double round_ms;
};
constexpr std::array<Effort, 7> efforts = {{{5, 12}, {3, 12}, {2, 12}, {1, 12}, {1, 8}, {1, 4}, {1, 1}}};
// Leaves out less than a round of ten.
constexpr double little_slower = 1.1;

// Rough costs; they only set how long a comparison lasts, and give way to what launches take.
constexpr double library_start_seconds = 0.1;
constexpr double peer_start_seconds = 0.3;
constexpr double probe_ms = 2;
constexpr double shared_memory_bytes_per_ms = 8e6;
constexpr double loopback_bytes_per_ms = 2.5e6;
// The library and its limits: over shared memory about six raw loops, over TCP one.
constexpr double turns_over_shared_memory = 6;
constexpr double turns_over_loopback = 2;
// Of the measured exchanges that come before, and those that fill a buffer or check it.
constexpr double overhead = 1.4;

constexpr double full_window = 64;
constexpr double window_bytes = 256.0 * 1024 * 1024;
constexpr double least_round_trips = 4;

bool is_library(const Contender& contender) {
  return contender.name == "parley";
}

bool is_windowed(const std::string& op) {
  return op == "bandwidth" || op == "bidirectional" || op == "message-rate";
}

// Of the shortest turn that there can be.
double least_turn_bytes(const Case& where, double bytes) {
  if (!is_windowed(where.op)) return least_round_trips * 2 * bytes;
  const double window = std::clamp(window_bytes / bytes, 4.0, full_window);
  // One to warm up, one to measure.
  return 2 * window * bytes * (where.op == "bidirectional" ? 2 : 1);
}

double turn_ms(const Case& where, std::size_t bytes, double round_ms, int cores) {
  const double speed = where.transport == "shm" ? shared_memory_bytes_per_ms : loopback_bytes_per_ms;
  // Pairs take turns on the cores, and so does what writes buffers anew.
  const double sharers =
      std::max(1.0, static_cast<double>(where.ranks) / cores) * (where.rewritten ? 1.7 : 1);
  return std::max(round_ms, sharers * least_turn_bytes(where, static_cast<double>(bytes)) / speed);
}

double turns_of(const Contender& contender, const Case& where, int cores) {
  if (!is_library(contender)) return 1;
  const double turns = where.transport == "shm" ? turns_over_shared_memory : turns_over_loopback;
  // Then each loop tries two ways of waiting.
  return where.ranks > cores ? 2 * turns - 1 : turns;
}

double round_seconds(const Workload& workload, const Effort& effort) {
  double seconds = 0;
  for (const Case& where : workload.cases) {
    const std::vector<std::size_t> sizes = sizes_of(where, workload.sizes);
    for (const Contender& contender : workload.contenders)
      seconds +=
          launch_seconds(contender, where, sizes, effort.launch_rounds, effort.round_ms, workload.cores);
  }
  return seconds;
}

Budget budget_of(const Workload& workload, const Effort& effort, int rounds) {
  const double seconds = rounds * round_seconds(workload, effort);
  return {rounds, effort.launch_rounds, effort.round_ms, seconds, seconds <= workload.seconds};
}

// As many rounds as fit, if that is `least` or more.
std::optional<Budget> fill(const Workload& workload, const Effort& effort, int least) {
  const double one = round_seconds(workload, effort);
  const int affordable = static_cast<int>(std::min(workload.seconds / one, static_cast<double>(most_rounds)));
  if (affordable < least) return std::nullopt;
  return budget_of(workload, effort, affordable);
}

}  // namespace

std::vector<std::size_t> sizes_of(const Case& where, const std::vector<std::size_t>& wanted) {
  const Operation& op = operation(where.op);
  // A size is asked for all the same, and means nothing.
  if (!op.has_sizes) return {8};
  if (!wanted.empty()) return wanted;
  if (op.figure == Figure::rate) return parse_sizes("8,64,512,4K");
  return parse_sizes("8,64,512,4K,32K,256K,2M,16M");
}

double launch_seconds(const Contender& contender, const Case& where, std::span<const std::size_t> sizes,
                      int launch_rounds, double round_ms, int cores) {
  double ms = 0;
  for (const std::size_t bytes : sizes) {
    const double turns = turns_of(contender, where, cores);
    ms += launch_rounds * (probe_ms + overhead * turns * turn_ms(where, bytes, round_ms, cores));
  }
  return (is_library(contender) ? library_start_seconds : peer_start_seconds) + ms / 1000;
}

Budget make_budget(const Workload& workload) {
  if (workload.rounds) {
    for (const Effort& effort : efforts) {
      const Budget budget = budget_of(workload, effort, *workload.rounds);
      if (budget.fits) return budget;
    }
    return budget_of(workload, efforts.back(), *workload.rounds);
  }
  for (const int least : {wanted_rounds, least_rounds + 2, least_rounds}) {
    for (const Effort& effort : efforts)
      if (const auto budget = fill(workload, effort, least)) return *budget;
  }
  return budget_of(workload, efforts.back(), least_rounds);
}

Budget adapt_budget(const Workload& workload, const Budget& planned, const Spent& spent) {
  const int left = planned.rounds - spent.rounds;
  if (spent.pace <= little_slower) return planned;
  Budget budget = planned;
  for (const Effort& effort : efforts) {
    if (effort.launch_rounds > planned.launch_rounds || effort.round_ms > planned.round_ms) continue;
    const double seconds = spent.seconds + spent.pace * left * round_seconds(workload, effort);
    budget = {planned.rounds, effort.launch_rounds, effort.round_ms, seconds, seconds <= workload.seconds};
    if (budget.fits) break;
  }
  return budget;
}

std::vector<std::string> command_of(const Contender& contender, const Case& where,
                                    std::span<const std::size_t> sizes, const Budget& budget,
                                    const std::string& json_file) {
  std::string list;
  for (const std::size_t bytes : sizes) list += (list.empty() ? "" : ",") + format_size(bytes);
  std::vector<std::string> words{contender.program, where.op,
                                 "--ranks",         std::to_string(where.ranks),
                                 "--transport",     where.transport,
                                 "--sizes",         list,
                                 "--rounds",        std::to_string(budget.launch_rounds),
                                 "--round-ms",      fmt::format("{}", budget.round_ms),
                                 "--json",          json_file};
  if (where.rewritten) words.emplace_back("--rewrite");
  if (where.arena && is_parley_bench(contender.program)) words.emplace_back("--arena");
  return words;
}

std::vector<Launch> order_launches(std::size_t contenders, std::size_t cases, int rounds) {
  std::vector<Launch> launches;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t where = 0; where < cases; ++where) {
      for (std::size_t i = 0; i < contenders; ++i)
        launches.push_back({round, where, (i + static_cast<std::size_t>(round)) % contenders});
    }
  }
  return launches;
}

}  // namespace parley::bench::compare
