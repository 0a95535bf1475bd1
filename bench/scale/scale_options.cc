#include "bench/scale/scale_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "bench/choice.h"
#include "bench/command_line.h"
#include "bench/report_files.h"

namespace parley::bench::scale {
namespace {

constexpr std::array<std::string_view, 2> transports = {"shm", "tcp"};
constexpr std::array<std::string_view, 8> topics = {"start", "groups",  "store",      "memory",
                                                    "rate",  "barrier", "all_reduce", "poll"};

std::vector<Stage> stages_of(std::size_t topic) {
  constexpr std::array<Stage, topics.size()> first = {Stage::start,      Stage::groups, Stage::store,
                                                      Stage::memory,     Stage::rate,   Stage::barrier,
                                                      Stage::all_reduce, Stage::poll};
  if (first[topic] == Stage::memory) return {Stage::memory, Stage::linked};
  return {first[topic]};
}

// What was written, before it is understood.
struct Words {
  std::string ranks;
  std::string what;
  std::string transport;
  std::string rounds;
};

void define(CLI::App& app, Words& words, ScaleOptions& options) {
  app.set_help_flag();
  app.add_option("--ranks", words.ranks);
  app.add_option("--what", words.what);
  app.add_option("--transport", words.transport);
  app.add_option("--rounds", words.rounds);
  app.add_option("--json", options.json_file);
  app.add_option("--html", options.html_file);
  app.add_option("--svg", options.svg_folder);
  app.add_flag("--quiet", options.quiet);
}

std::vector<int> ranks_from(std::string_view list) {
  std::vector<int> ranks;
  for (const std::string_view part : parts_of(list))
    ranks.push_back(parse_number("--ranks", part, "whole numbers", 2, most_ranks));
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::vector<Stage> stages_from(std::string_view list) {
  std::array<bool, topics.size()> chosen{};
  for (const std::string_view part : parts_of(list)) chosen[choose("quantity", part, topics)] = true;
  std::vector<Stage> stages;
  for (std::size_t topic = 0; topic < topics.size(); ++topic) {
    if (!chosen[topic]) continue;
    const std::vector<Stage> some = stages_of(topic);
    stages.insert(stages.end(), some.begin(), some.end());
  }
  return stages;
}

void understand(const CLI::App& app, const Words& words, ScaleOptions& options) {
  if (app.count("--ranks") > 0) options.ranks = ranks_from(words.ranks);
  options.stages = stages_from(
      app.count("--what") > 0 ? words.what : "start,groups,store,memory,rate,barrier,all_reduce,poll");
  if (app.count("--transport") > 0)
    options.transport = transports[choose("transport", words.transport, transports)];
  if (app.count("--rounds") > 0)
    options.rounds = parse_number("--rounds", words.rounds, "a whole number", 1, most_rounds);
  if (!options.json_file.empty()) check_writable("--json", options.json_file);
  if (!options.html_file.empty()) check_writable("--html", options.html_file);
  if (!options.svg_folder.empty()) make_folder("--svg", options.svg_folder);
}

bool wants_help(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const std::string& word) { return word == "--help" || word == "-h"; });
}

constexpr std::string_view page = R"(NAME
    parley-bench scale - what ranks cost, the more of them there are

SYNOPSIS
    parley-bench scale [--ranks LIST] [--what LIST] [--transport NAME] [--rounds N]
                       [--json FILE] [--html FILE] [--svg FOLDER] [--quiet]

DESCRIPTION
    Starts worlds of more and more ranks on this machine, each a process, and measures what they cost; then tells by
    which law each cost grows, draws all of them in one picture, and says whether memory and descriptors are within
    what bench/scale/README.md promises. Each figure is measured in a world of its own, and is the median over rounds.

    start           from the first fork to the return of the last rank's init(), in ms; beside it Open MPI's: from
                    the start of mpirun to the return of the last rank's MPI_Init(), where peer-openmpi-start is built
    groups          one new_group() of all ranks, called by all, in us
    store           requests that the store answers in a second, set and get in turns, from all ranks at once
    memory          of a rank that is idle: KiB of its own memory and open descriptors, linked to nobody (ranks link
                    when they first need it); and in worlds of up to 32 ranks linked to all others, which is what
                    init() does there. The largest of all ranks.
    rate            messages of 8 B in windows of 64 from each even rank to the next odd one, all pairs together
    barrier         one call, in us
    all_reduce      one call of 8 B, in us
    poll            one look of a rank at the network, in ns, when nothing comes: linked to one rank, and to all

    Laws are constant, logarithmic, linear and worse (n log n, n^2), of the cost of one: of what is counted by the
    second, of its time. They are fitted by least squares of relative errors; a law with a further number must be
    clearly better. Fewer than four numbers of ranks have none. All ranks share the machine's cores: what each of
    n ranks does for itself takes n times as long.

OPTIONS
    --ranks LIST            how many ranks [2,4,8,16,32,64,128]
    --what LIST             start, groups, store, memory, rate, barrier, all_reduce, poll [all]
    --transport NAME        shm, tcp [shm]
    --rounds N              how often each is measured [3]
    --json FILE             a row for each figure and each law, one JSON object a line, is appended
    --html FILE             one page with charts, laws, the table and the machine; needs nothing else
    --svg FOLDER            each chart as a file
    --quiet                 no progress on stderr
    -h, --help              this page

EXIT STATUS
    0       measured, and within the promise
    1       measuring failed, or memory or descriptors grow faster than is promised
    2       wrong usage; nothing was measured

EXAMPLES
    parley-bench scale
    parley-bench scale --what start,memory --ranks 2,32,128 --json scale.jsonl
    parley-bench scale --what poll --transport tcp
    parley-bench scale --html scale.html
)";

}  // namespace

std::string_view scale_manual() noexcept {
  return page;
}

std::optional<ScaleOptions> parse_scale_options(const std::vector<std::string>& arguments) {
  if (wants_help(arguments)) return std::nullopt;
  CLI::App app;
  Words words;
  ScaleOptions options;
  define(app, words, options);
  std::vector<const char*> all{"parley-bench scale"};
  for (const std::string& word : arguments) all.push_back(word.c_str());
  if (!read_words(app, static_cast<int>(all.size()), all.data())) return std::nullopt;
  understand(app, words, options);
  return options;
}

}  // namespace parley::bench::scale
