#include "bench/peers/peer_rank.h"

#include <fmt/format.h>

#include <exception>
#include <iostream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bench/cores.h"
#include "bench/library_session.h"
#include "bench/report.h"
#include "bench/report_files.h"
#include "bench/sizes.h"

namespace parley::bench {
namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

std::string title(const PeerProgram& program, const PeerOptions& options, const std::string& pinning) {
  return fmt::format("# {} {}, buffers {}, transport {}, {} ranks, {} rounds; {}\n", program.name,
                     to_string(options.op), options.rewrite ? "rewritten" : "kept", options.transport,
                     options.ranks, options.rounds, pinning);
}

std::string header() {
  return "# microseconds: per message, one way; of a collective per call\n" +
         fmt::format("{:<8}{:<16}{:>12}{:>12}{:>12}{:>12}{:>12}{:>14}{:>10}\n", "# Size", "System", "median",
                     "min", "max", "p99", "MB/s", "messages/s", "probe_ns");
}

std::string line(const Row& row) {
  const auto number = [](const std::optional<double>& value) {
    return value.value_or(std::numeric_limits<double>::quiet_NaN());
  };
  std::string text =
      fmt::format("{:<8}{:<16}{:>12.3f}{:>12.3f}{:>12.3f}{:>12.3f}{:>12.1f}{:>14.0f}{:>10.0f}\n",
                  format_size(row.subject.bytes), row.system, row.median_us, row.lo_us, row.hi_us,
                  number(row.p99_us), number(row.mb_per_s), number(row.msg_per_s), row.probe_ns);
  if (row.core_share.value_or(1) < undisturbed_share) {
    text += fmt::format("# DISTURBED: a rank had its core for as little as {:.0f} %; do not use this line\n",
                        *row.core_share * 100);
  }
  if (row.void_reason) text += "# VOID: " + *row.void_reason + "; do not use this line\n";
  return text;
}

}  // namespace

void peer_rank(const PeerProgram& program, const PeerOptions& options, int rank,
               const std::function<std::unique_ptr<Library>()>& join) {
  const std::vector<int> cores = usable_cores();
  const bool enough_cores = static_cast<std::size_t>(options.ranks) <= cores.size();
  if (options.pin) pin_to(core_for(rank, cores));
  std::optional<Report> report;
  if (rank == 0) report.emplace(options.json_file);
  const std::unique_ptr<Library> peer = join();
  if (report) {
    report->print(
        title(program, options, options.pin ? describe_pinning(options.ranks, cores) : "not pinned"));
    report->print(header());
  }
  LibrarySession session(*peer, options, enough_cores ? Idle::spin : Idle::yield);
  std::size_t wrong = 0;
  for (const std::size_t bytes : options.sizes) {
    const auto rows = session.measure(bytes);
    if (!rows) continue;
    for (const Row& row : *rows) {
      report->print(line(row));
      report->add_json(row);
      wrong += row.wrong.value_or(0);
    }
  }
  if (wrong > 0) throw std::runtime_error(std::to_string(wrong) + " elements are wrong");
}

int peer_main(const PeerProgram& program, int argc, const char* const* argv,
              const std::function<int(const PeerOptions&)>& run) {
  try {
    const auto options = parse_peer_options(program, argc, argv);
    if (!options) return 0;
    if (!options->json_file.empty()) check_writable("--json", options->json_file);
    return run(*options);
  } catch (const CommandLineError& error) {
    std::cerr << program.name << ": " << error.what() << "\nRun " << program.name << " --help for more.\n";
    return exit_usage;
  } catch (const std::exception& error) {
    std::cerr << program.name << ": " << error.what() << '\n';
    return exit_failed;
  }
}

}  // namespace parley::bench
