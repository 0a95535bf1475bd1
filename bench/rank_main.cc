#include "bench/rank_main.h"

#include <fmt/format.h>
#include <parley/init.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "bench/cores.h"
#include "bench/devices/measure.h"
#include "bench/library_session.h"
#include "bench/limits/collective_loops.h"
#include "bench/limits/measure.h"
#include "bench/parley_library.h"
#include "bench/relay.h"
#include "bench/report.h"
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
  check_ranks(options.op, ranks);
  if (options.ranks.value_or(ranks) == ranks) return;
  throw CommandLineError("--ranks " + std::to_string(*options.ranks) + ", but the launcher has started " +
                         std::to_string(ranks) + " ranks (WORLD_SIZE): leave --ranks out");
}

bool measures_shared_memory(const Options& options) {
  return options.transport == "shm";
}

// The limits need the library only to bring the processes together.
const char* parley_transports(const Options& options) {
  if (!measures_shared_memory(options) || options.limits) return "tcp";
  return options.no_cma ? "shm,^cma" : "shm";
}

std::string what_of(const Options& options) {
  std::string text(options.limits ? "limits" : to_string(options.op));
  text += options.rewrite ? ", buffers rewritten" : ", buffers kept";
  if (options.read) text += ", results read";
  if (options.arena) text += ", Parley's in its arena";
  if (options.async) text += ", asynchronous";
  if (!options.algorithm.empty()) text += ", by " + options.algorithm;
  if (options.no_cma) text += ", without cross-memory copies";
  return text;
}

// `device`: where buffers lie, in words; "" if that is the host.
std::string title(const Options& options, int ranks, const std::string& pinning, const std::string& device) {
  return fmt::format("# parley-bench {}, transport {}{}, {} ranks, {} rounds; {}\n", what_of(options),
                     options.transport, device.empty() ? "" : ", device " + device, ranks, options.rounds,
                     pinning);
}

void measure_library(ProcessGroup& world, const Options& options, Idle idle, Report* report) {
  Session session(world, options, idle);
  if (report != nullptr) report->print(table_header(options.op));
  for (const std::size_t bytes : options.sizes) {
    const std::optional<Figures> figures = session.measure(bytes);
    if (!figures) continue;
    report->print(table_line(figures->parley, figures->raw) +
                  disturbance_note(figures->parley, figures->raw));
    report->add_json(figures->parley);
    report->add_json(figures->raw);
  }
}

// Which algorithm the library takes, in words.
std::string plan_of(const ProcessGroup& world, Op op, std::size_t bytes) {
  if (op == Op::barrier) return {};
  return "# " + world.describe_plan(to_string(op), bytes) + '\n';
}

void measure_collective(ProcessGroup& world, const Options& options, Idle idle, Report* report) {
  ParleyLibrary library(world, options);
  LibrarySession session(library, options, idle);
  std::size_t wrong = 0;
  const bool has_loops = measures_shared_memory(options);
  if (report != nullptr) report->print(collective_header(has_loops));
  for (const std::size_t bytes : options.sizes) {
    auto rows = session.measure(bytes);
    if (!rows) continue;
    compare_with_best_loop(*rows);
    report->print(plan_of(world, options.op, bytes));
    for (const Row& row : *rows) {
      report->print(collective_line(row));
      report->add_json(row);
      wrong += row.wrong.value_or(0);
    }
  }
  if (wrong > 0) throw std::runtime_error(std::to_string(wrong) + " elements are wrong");
}

}  // namespace

void rank_main(const Options& options) {
  const int rank = launched("RANK");
  const int ranks = launched("WORLD_SIZE");
  check_world(options, ranks);

  if (options.relay != nullptr) options.relay->start(rank);
  // Before init(): the library's own thread belongs on its rank's core as well.
  const std::vector<int> cores = usable_cores();
  const bool enough_cores = static_cast<std::size_t>(ranks) <= cores.size();
  if (options.pin) pin_to(core_for(rank, cores));

  // The rows say what carried the messages, so it is not left to the environment.
  ::setenv("PARLEY_TRANSPORTS", parley_transports(options), 1);
  if (!options.algorithm.empty())
    ::setenv("PARLEY_ALGO", (std::string(to_string(options.op)) + "=" + options.algorithm).c_str(), 1);
  cuda::Api* const devices = options.devices.has_device() ? &require_devices() : nullptr;
  std::optional<Report> report;
  if (rank == 0) report.emplace(options.json_file, options.relay == nullptr);
  ProcessGroup world = init();
  if (report) {
    report->print(title(options, ranks, options.pin ? describe_pinning(ranks, cores) : "not pinned",
                        devices == nullptr ? "" : describe_devices(*devices, world, options.devices)));
  }
  const Idle idle = enough_cores ? Idle::spin : Idle::yield;
  Report* const writer = report ? &*report : nullptr;
  if (devices != nullptr) {
    measure_on_devices(*devices, world, options, idle, writer);
  } else if (is_collective(options.op) && !options.limits) {
    measure_collective(world, options, idle, writer);
  } else if (measures_shared_memory(options)) {
    measure_limits(world, options, idle, writer);
  } else {
    measure_library(world, options, idle, writer);
  }
  destroy();
}

}  // namespace parley::bench
