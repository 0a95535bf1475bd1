#include "bench/tune/tune_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "bench/choice.h"
#include "bench/command_line.h"

namespace parley::bench::tune {
namespace {

constexpr std::array<std::string_view, 2> transports = {"shm", "tcp"};

// What was written, before it is understood.
struct Words {
  std::string ranks;
  std::string transport;
  std::string sizes;
  std::string operations;
  std::string rounds;
  std::string round_ms;
};

void define(CLI::App& app, Words& words, TuneOptions& options) {
  app.set_help_flag();
  app.add_option("--ranks", words.ranks);
  app.add_option("--transport", words.transport);
  app.add_option("--sizes", words.sizes);
  app.add_option("--operations", words.operations);
  app.add_option("--rounds", words.rounds);
  app.add_option("--round-ms", words.round_ms);
  app.add_option("--output", options.output);
  app.add_flag("--quiet", options.quiet);
}

std::vector<std::string_view> collective_names() {
  std::vector<std::string_view> names;
  for (const Operation& each : operations)
    if (is_collective(each.op)) names.push_back(each.name);
  return names;
}

Op collective_of(std::string_view name) {
  return std::find_if(operations.begin(), operations.end(),
                      [&](const Operation& each) { return each.name == name; })
      ->op;
}

// The parts of a list, each once, as `read` understands them.
template <typename Value, typename Read>
std::vector<Value> list_of(std::string_view list, const Read& read) {
  std::vector<Value> values;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const Value value = read(list.substr(begin, comma - begin));
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    begin = comma + 1;
  }
  return values;
}

int ranks_from(std::string_view word) {
  return parse_number("--ranks", word, "whole numbers", 2, most_ranks);
}

void understand(const CLI::App& app, const Words& words, TuneOptions& options) {
  if (app.count("--ranks") > 0) options.ranks = list_of<int>(words.ranks, ranks_from);
  if (app.count("--transport") > 0)
    options.transport = transports[choose("transport", words.transport, transports)];
  // Sizes are the same for all; a barrier has none.
  if (app.count("--sizes") > 0) options.sizes = sizes_for(Op::all_reduce, words.sizes);
  std::sort(options.sizes.begin(), options.sizes.end());
  const std::vector<std::string_view> names = collective_names();
  if (app.count("--operations") > 0)
    options.ops = list_of<Op>(words.operations, [&](std::string_view word) {
      return collective_of(names[choose("operation", word, names)]);
    });
  else
    std::transform(names.begin(), names.end(), std::back_inserter(options.ops), collective_of);
  if (app.count("--rounds") > 0)
    options.rounds = parse_number("--rounds", words.rounds, "a whole number", 1, most_rounds);
  if (app.count("--round-ms") > 0)
    options.round_ms =
        parse_number("--round-ms", words.round_ms, "milliseconds", least_round_ms, most_round_ms);
  if (app.count("--output") > 0 && options.output.empty()) throw CommandLineError("--output: which file?");
}

bool wants_help(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const std::string& word) { return word == "--help" || word == "-h"; });
}

constexpr std::string_view page = R"(NAME
    parley-bench tune - measure which algorithm collectives shall take on this machine

SYNOPSIS
    parley-bench tune [--ranks LIST] [--transport NAME] [--sizes SIZES] [--operations LIST]
                      [--rounds N] [--round-ms MS] [--output FILE] [--quiet]

DESCRIPTION
    For each operation, number of ranks and size, runs the algorithms that can do it, in turns between the same
    processes, and writes a table of the fastest ones. Parley goes by it where PARLEY_TUNING names the file, in all
    processes of a job; what is in the table is not measured again while a job runs.

    Without such a file Parley goes by a model of prices. Its choice is kept unless another algorithm is clearly
    faster: unless the upper end of the 95 % interval of the other one's time over its own is below 0.95. An
    algorithm that takes more than 4 times as long as the quickest one in a first trial of some calls is not
    measured further. Segments are cut as the model says.

    A row is for a number of ranks on one host, the transport between them, whether each has a core of its own,
    and sizes up to a limit: bytes of the whole vector in broadcast and reductions, of one rank's block in all
    others. Where two neighbouring sizes differ, the limit is their geometric middle. Beyond the largest measured
    size, in groups of several hosts, with uneven counts, in scan and exscan, and where the algorithm cannot do a
    call (an operator that does not commute, say) the model goes on to choose. PARLEY_ALGO wins over the table.

    Calls move 32-bit floats, and sum where something is folded. Where each rank has a core of its own, buffers are
    written anew before each call, outside the measured time; where ranks share cores, calls follow each other.
    Results are checked. Measure on a machine that does nothing else, and once more when that has changed.

OPTIONS
    --ranks LIST            how many processes [2,4]
    --transport NAME        shm, tcp [shm]
    --sizes SIZES           bytes: a list, or a range that doubles, such as 8:16M [8,64,512,4K,32K,256K,2M]
    --operations LIST       broadcast, reduce, all_reduce, all_gather, reduce_scatter, all_to_all, gather, scatter,
                            barrier [all]
    --rounds N              how often all algorithms take turns, per case; with less than 3 nothing is clear [15]
    --round-ms MS           about how many milliseconds a turn lasts [5]
    --output FILE           where the table goes; a file is replaced when all is measured [stdout]
    --quiet                 no progress, and no summary
    -h, --help              this page

    The progress is on stderr, a line for each case. At the end stands a summary of all cases, the model's choice
    and the table's: on stdout, or on stderr where the table is on stdout.

EXIT STATUS
    0       measured, and the table written
    1       measuring failed
    2       wrong usage; nothing was measured
    128+N   ended by signal N; nothing was written

EXAMPLES
    parley-bench tune --output parley.tuning
    parley-bench tune --ranks 2 --operations all_reduce --sizes 8:1M > parley.tuning
    PARLEY_TUNING=parley.tuning parley-bench all_reduce --transport shm --ranks 4
)";

}  // namespace

std::string_view tune_manual() noexcept {
  return page;
}

std::optional<TuneOptions> parse_tune_options(const std::vector<std::string>& arguments) {
  if (wants_help(arguments)) return std::nullopt;
  CLI::App app;
  Words words;
  TuneOptions options;
  define(app, words, options);
  std::vector<const char*> all{"parley-bench tune"};
  for (const std::string& word : arguments) all.push_back(word.c_str());
  if (!read_words(app, static_cast<int>(all.size()), all.data())) return std::nullopt;
  understand(app, words, options);
  return options;
}

}  // namespace parley::bench::tune
